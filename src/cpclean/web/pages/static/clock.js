// How long an answer took, counting only the time in which the page was seen.
(function () {
  "use strict";
  var spent = 0;
  var since = document.hidden ? null : performance.now();

  function pause() {
    if (since !== null) spent += performance.now() - since;
    since = null;
  }

  document.addEventListener("visibilitychange", function () {
    pause();
    if (!document.hidden) since = performance.now();
  });

  document.querySelectorAll("form").forEach(function (form) {
    form.addEventListener("submit", function () {
      var field = form.elements.namedItem("seconds");
      if (!field || form.dataset.said) return; // sent later, when the server is back
      form.dataset.said = "yes";
      field.value = ((spent + (since === null ? 0 : performance.now() - since)) / 1000).toFixed(2);
    });
  });
})();
