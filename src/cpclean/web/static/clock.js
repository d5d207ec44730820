// How long an answer took, counting only the time in which the page was seen; and one answer a click.
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
    form.addEventListener("submit", function (event) {
      if (form.dataset.sent) {
        event.preventDefault();
        return;
      }
      form.dataset.sent = "yes";
      var now = spent + (since === null ? 0 : performance.now() - since);
      var field = form.elements.namedItem("seconds");
      if (field) field.value = (now / 1000).toFixed(2);
    });
  });

  // The back button brings the page as it was left; what it asks may be answered by now.
  window.addEventListener("pageshow", function (event) {
    if (event.persisted) window.location.reload();
  });
})();
