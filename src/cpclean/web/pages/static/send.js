// While the server is gone, a form that is sent waits, with all that is in it: the browser's own
// page about the error would lose it. Its request id is that of the page: nothing is saved twice.
(function () {
  "use strict";
  var told = document.getElementById("held");
  var waiting = null; // the form to be sent, and the button that was pressed
  var asking = false; // whether the server is being asked, now and again
  var passing = false; // the server is back: the form may go
  var sent = 0; // when: a second click sends nothing, but one that was stopped can be sent again

  var words = {
    away: "The server cannot be reached. What you entered is still here. Keep this page open: it is sent as soon as the server is back.",
    strange: "The server was restarted and does not recognize you any more. What you entered is still here. In another tab, open the address that the server printed and enter your name: then it is sent.",
    other: "The server has another table now. What you entered belongs to the previous table and is still here: it is sent when that table is served again.",
  };

  // The page for the name is small, needs no database, and shows whether we are still recognized.
  function ask() {
    asking = true;
    fetch(cpclean.root + "/name", { cache: "no-store", signal: AbortSignal.timeout(5000) })
      .then(function (answer) {
        if (answer.status === 401) return "";
        if (!answer.ok) throw new Error("away");
        return answer.text();
      })
      .then(function (text) {
        var page = new DOMParser().parseFromString(text, "text/html");
        var csrf = page.querySelector("input[name=csrf]");
        var named = page.querySelector(".who") || !document.querySelector(".who");
        if (!csrf || !named) hold(words.strange);
        else if (page.body.dataset.project !== document.body.dataset.project) hold(words.other);
        else go(csrf.value);
      })
      .catch(function () { hold(words.away); });
  }

  function hold(text) {
    if (told.hidden || told.textContent !== text) told.textContent = text;
    told.hidden = false;
    window.setTimeout(ask, 1000);
  }

  function go(csrf) {
    asking = false;
    told.hidden = true;
    waiting.form.elements.namedItem("csrf").value = csrf; // of a server started anew, another one
    passing = true;
    sent = 0;
    waiting.form.requestSubmit(waiting.button);
    passing = false;
  }

  // Who presses another button meanwhile has changed their mind.
  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
    var there = passing || !(asking || cpclean.lost);
    var twice = Date.now() - sent < 1000;
    if (there && !twice) {
      sent = Date.now();
      return;
    }
    event.preventDefault();
    if (there) return;
    mark(false);
    waiting = { form: form, button: event.submitter };
    mark(true);
    if (!asking) ask();
  });

  function mark(is) {
    if (waiting && waiting.button) waiting.button.classList.toggle("waiting", is);
  }

  // The back button brings the page as it was left; what it asks may be answered by now.
  window.addEventListener("pageshow", function (event) {
    if (event.persisted) window.location.reload();
  });
})();
