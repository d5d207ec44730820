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

  // Among choices for several holes: those of the hole one is at, or of the first without a choice.
  function holeSet() {
    var sets = Array.from(document.querySelectorAll(".hole-set"));
    var here = sets.find(function (one) { return one.contains(document.activeElement); });
    return here || sets.find(function (one) { return !filled(one); }) || sets[sets.length - 1];
  }

  function filled(set) {
    var typed = set.querySelector("input[type=text]");
    return set.querySelector("input[type=radio]:checked") || (typed && typed.value.trim());
  }

  function choose(digit) {
    if (press("button[data-key='" + digit + "']")) return true;
    var set = holeSet();
    var radio = set && set.querySelector("input[data-key='" + digit + "']");
    if (!radio) return false;
    radio.checked = true;
    var next = set.nextElementSibling;
    var target = next && next.querySelector("input[type=radio], input[type=text]");
    if (next && next.classList.contains("hole-set") && target) target.focus();
    else document.querySelector("#pick > button").focus();
    return true;
  }

  function typeValue() {
    var set = holeSet();
    var field = (set || document).querySelector("input[type=text][id^=value-]");
    if (!field) return false;
    field.focus();
    return true;
  }

  function save() {
    var free = document.getElementById("free");
    var typed = free && Array.from(free.querySelectorAll("input[type=text]")).some(function (one) { return one.value.trim(); });
    var form = document.getElementById("pick") || (typed ? free : null);
    if (!form) return false;
    form.requestSubmit();
    return true;
  }

  function act(key) {
    if (/^[1-9]$/.test(key)) return choose(key);
    if (key === "s") return press("#skip button");
    if (key === "u") return press("#undo button");
    if (key === "v") return typeValue();
    if (key === "Enter") return save();
    if (key === "?" && help) {
      help.showModal();
      return true;
    }
    return false;
  }

  document.addEventListener("keydown", function (event) {
    var at = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (help && help.open) {
      if (event.key === "?") help.close();
      return;
    }
    var typing = at.matches("input[type=text], input[type=search], input[type=number], select, textarea");
    if (typing && event.key === "Escape") return at.blur();
    if (typing || (event.key === "Enter" && at.matches("button, a, summary"))) return;
    if (act(event.key)) event.preventDefault();
  });

  // What is typed for a hole takes the place of what is chosen, and the other way round.
  document.querySelectorAll(".hole-set").forEach(function (set) {
    set.addEventListener("input", function (event) {
      if (event.target.type === "text" && event.target.value) {
        set.querySelectorAll("input[type=radio]").forEach(function (one) { one.checked = false; });
      } else if (event.target.type === "radio") {
        set.querySelector("input[type=text]").value = "";
      }
    });
  });
})();
