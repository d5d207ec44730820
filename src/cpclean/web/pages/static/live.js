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
    text: String,
  };

  function show(progress) {
    document.querySelectorAll("[data-live]").forEach(function (place) {
      var value = progress[place.dataset.live];
      if (value === undefined || !progress.looked) return; // nothing is known before the first look
      if (place.tagName === "PROGRESS") place.value = value;
      else place.textContent = words[place.dataset.as || "number"](value);
    });
    var stop = document.getElementById("stop");
    if (stop) stop.hidden = !(progress.points > 0 && progress.settled === progress.points);
    var sure = document.getElementById("stop-sure");
    if (sure) sure.hidden = progress.certain === progress.points;
    if (sure) document.getElementById("stop-certain").hidden = !sure.hidden;
    back(progress);
    document.dispatchEvent(new CustomEvent("cpclean:progress", { detail: progress }));
    if (progress.version === version) return;
    version = progress.version;
    if (document.querySelector("[data-wait]") && document.getElementById("held").hidden) window.location.reload();
    else renew();
  }

  // What the answers were good for, or how far the server is with finding that out.
  function back(progress) {
    var place = document.getElementById("back");
    if (!place) return;
    place.replaceChildren();
    progress.looking_back.forEach(function (words) { paragraph(place, words); });
    if (progress.looking_at) {
      var bar = document.createElement("progress");
      bar.max = 1;
      bar.value = progress.looking_at[1];
      bar.setAttribute("aria-label", "Looking back");
      paragraph(place, "Looking back at the answers: " + progress.looking_at[0] + " ").append(bar);
    }
    place.hidden = !place.children.length;
  }

  function paragraph(place, words) {
    var made = document.createElement("p");
    made.textContent = words;
    place.append(made);
    return made;
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

  // A browser keeps few connections to one server, so that all its pages share one stream: the
  // page that has the lock listens, and tells the others. Where there are no locks (they need
  // localhost or TLS), each page that is seen listens for itself.
  var channel = window.BroadcastChannel ? new BroadcastChannel("cpclean" + cpclean.root) : null;
  var sharing = Boolean(channel && navigator.locks);
  var wanted = null; // the wish for the lock, to be taken back
  var free = null; // gives the lock back

  function heard(message) {
    if (message.progress) show(message.progress);
    if (message.lost !== undefined) lose(message.lost);
  }

  function tell(message) {
    heard(message);
    if (sharing) channel.postMessage(message);
  }

  function lose(is) {
    cpclean.lost = is; // send.js looks before it sends
    if (is && !lost) lost = window.setTimeout(function () { away(true); }, 3000);
    if (!is) {
      window.clearTimeout(lost);
      lost = null;
      away(false);
    }
  }

  function listen() {
    if (source) return;
    source = new EventSource(cpclean.root + "/live");
    source.addEventListener("progress", function (event) { tell({ progress: JSON.parse(event.data) }); });
    source.addEventListener("open", function () { tell({ lost: false }); });
    source.addEventListener("error", function () {
      tell({ lost: true });
      if (source && source.readyState === EventSource.CLOSED) {
        source = null; // refused, not interrupted: the browser itself would not try again
        window.setTimeout(function () { if (!document.hidden) open(); }, 5000);
      }
    });
  }

  function open() {
    if (!sharing || free) {
      listen();
      return;
    }
    if (wanted) return;
    channel.postMessage({ ask: true }); // whoever listens says whether the server is there
    wanted = new AbortController();
    navigator.locks.request("cpclean" + cpclean.root, { signal: wanted.signal }, function () {
      wanted = null;
      return new Promise(function (done) {
        free = done;
        listen();
      });
    }).catch(function () {});
  }

  function close() {
    if (source) source.close();
    source = null;
    if (wanted) wanted.abort();
    if (free) free();
    wanted = free = null;
    window.clearTimeout(lost);
    lost = null;
  }

  if (channel) {
    channel.addEventListener("message", function (event) {
      if (event.data.ask && source) channel.postMessage({ lost: source.readyState !== EventSource.OPEN });
      else if (!source) heard(event.data);
    });
  }

  // A row that somebody else has left becomes free without any news.
  if (document.querySelector("[data-wait]")) {
    window.setInterval(function () {
      if (!document.hidden && document.getElementById("held").hidden && !cpclean.lost) window.location.reload();
    }, 20000);
  }

  // A page that nobody sees gives its place to another one.
  document.addEventListener("visibilitychange", function () {
    if (document.hidden) {
      close();
      cpclean.lost = true; // until it is heard again, nobody knows
    } else open();
  });
  window.addEventListener("pagehide", close);
  if (!document.hidden) open();
})();
