// What others answer shows here too: the server sends the progress, the page puts it in place.
(function () {
  "use strict";
  var source = null;
  var lost = null; // a timer: a short gap is not worth a word
  var renewing = false; // tables are fetched one at a time, and not too often
  var again = false;
  var version = Number(document.body.dataset.version);

  var words = {
    percent: function (value) { return value === null ? "–" : cpclean.percent(value); },
    number: cpclean.number,
    estimate: function (value) { return value === null ? "?" : (value ? "≈ " : "") + cpclean.number(value); },
  };

  function show(progress) {
    document.querySelectorAll("[data-live]").forEach(function (place) {
      var value = progress[place.dataset.live];
      if (value === undefined) return;
      if (place.tagName === "PROGRESS") place.value = value;
      else place.textContent = words[place.dataset.as || "number"](value);
    });
    var stop = document.getElementById("stop");
    if (stop) stop.hidden = !(progress.points > 0 && progress.certain === progress.points);
    document.dispatchEvent(new CustomEvent("cpclean:progress", { detail: progress }));
    if (progress.version === version) return;
    version = progress.version;
    if (document.querySelector("[data-wait]") && document.getElementById("held").hidden) window.location.reload();
    else renew();
  }

  // Tables are made by the server only; a table that somebody is in stays as it is.
  function renew() {
    if (!document.querySelector("[data-fragment]")) return;
    again = renewing;
    if (renewing) return;
    renewing = true;
    fetch(window.location.href, { headers: { Accept: "text/html" } })
      .then(function (answer) { return answer.ok ? answer.text() : ""; })
      .then(function (text) {
        var fresh = new DOMParser().parseFromString(text, "text/html");
        document.querySelectorAll("[data-fragment]").forEach(function (old) {
          var made = fresh.getElementById(old.id);
          if (made && !old.contains(document.activeElement)) old.replaceWith(document.importNode(made, true));
        });
      })
      .catch(function () {})
      .finally(function () {
        window.setTimeout(function () {
          renewing = false;
          if (again) renew();
        }, 1500);
      });
  }

  function away(is) {
    document.body.classList.toggle("away", is);
    document.getElementById("away").hidden = !is;
  }

  function open() {
    if (source) return;
    source = new EventSource("/live");
    source.addEventListener("progress", function (event) { show(JSON.parse(event.data)); });
    source.addEventListener("open", function () {
      cpclean.lost = false;
      window.clearTimeout(lost);
      lost = null;
      away(false);
    });
    source.addEventListener("error", function () {
      cpclean.lost = true; // send.js looks before it sends
      if (!lost) lost = window.setTimeout(function () { away(true); }, 3000);
      if (source && source.readyState === EventSource.CLOSED) {
        source = null; // refused, not interrupted: the browser itself would not try again
        window.setTimeout(open, 5000);
      }
    });
  }

  function close() {
    if (source) source.close();
    source = null;
    window.clearTimeout(lost);
    lost = null;
  }

  // A browser keeps few connections to one server: a page that nobody sees gives its own back.
  document.addEventListener("visibilitychange", function () {
    if (document.hidden) {
      close();
      cpclean.lost = true; // until the stream is open again, nobody knows
    } else open();
  });
  window.addEventListener("pagehide", close);
  if (!document.hidden) open();
})();
