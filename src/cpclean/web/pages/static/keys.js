// Every step has a key; without script the buttons do the same.
(function () {
  "use strict";
  var help = document.getElementById("help");

  function press(selector) {
    var button = document.querySelector(selector);
    if (!button || button.disabled) return false;
    button.click();
    return true;
  }

  // The field one is at, or the first that is still empty.
  function fieldSet() {
    var sets = Array.from(document.querySelectorAll(".hole-field"));
    var here = sets.find(function (one) { return one.contains(document.activeElement); });
    return here || sets.find(function (one) { return !filled(one); }) || sets[sets.length - 1];
  }

  function texts(set) {
    return set.querySelectorAll("input[type=text], input[type=date], input[type=datetime-local]");
  }

  function filled(set) {
    return set.querySelector("input[type=radio]:checked") ||
      Array.from(texts(set)).some(function (one) { return one.value.trim(); });
  }

  function choose(digit) {
    var set = fieldSet();
    var radio = set && set.querySelector("input[data-key='" + digit + "']");
    if (!radio) return false;
    radio.checked = true;
    radio.dispatchEvent(new Event("input", { bubbles: true }));
    var next = set.nextElementSibling;
    var target = next && next.querySelector("input:not([type=hidden])");
    (target || document.querySelector("[data-act=save]")).focus();
    return true;
  }

  function typeValue() {
    var set = fieldSet();
    var field = set && set.querySelector("input:not([type=hidden])");
    if (!field) return false;
    field.focus();
    return true;
  }

  function save() {
    var form = document.getElementById("answer");
    if (!form) return false;
    form.requestSubmit();
    return true;
  }

  function act(key) {
    if (/^[1-9]$/.test(key)) return choose(key);
    if (key === "s") return press("[data-act=skip]");
    if (key === "u") return press("[data-act=undo], #undo button");
    if (key === "v") return typeValue();
    if (key === "Enter") return save();
    if (key === "?" && help) {
      help.open = !help.open;
      help.querySelector("summary").focus();
      return true;
    }
    return false;
  }

  document.addEventListener("keydown", function (event) {
    var at = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (help && help.open && event.key === "Escape") {
      help.open = false;
      return;
    }
    var typing = at.matches("input[type=text], input[type=search], input[type=number], input[type=date], input[type=datetime-local], select, textarea");
    if (typing && event.key === "Escape") return at.blur();
    if (typing || (event.key === "Enter" && at.matches("button, a, summary"))) return;
    if (act(event.key)) event.preventDefault();
  });

  // What is typed for a hole takes the place of what is chosen, and the other way round.
  document.querySelectorAll(".hole-field").forEach(function (set) {
    set.addEventListener("input", function (event) {
      var radio = event.target.type === "radio";
      set.querySelectorAll("input[type=radio]").forEach(function (one) {
        if (one !== event.target && (!radio || one.name !== event.target.name)) one.checked = false;
      });
      if (radio) texts(set).forEach(function (one) { one.value = ""; });
    });
  });
})();
