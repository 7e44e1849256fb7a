// The switches of every page of the service, and on the page for pasting what sends a log and shows its report.
(() => {
  "use strict";
  const root = document.documentElement;
  const words = JSON.parse(document.getElementById("words").textContent);
  const remembered = (store, key) => { try { return window[store].getItem(key); } catch { return null; } };
  const remember = (store, key, value) => { try { window[store].setItem(key, value); } catch { /* no storage: chosen anew each time */ } };
  const language = () => document.querySelector("input[name=language]:checked").value;
  const frame = document.getElementById("page");
  const speak = () => {
    root.lang = words[language()].tag;
    document.title = words[language()].title;
    if (frame) frame.title = words[language()].report;
  };
  const paint = (theme) => { if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme; };
  for (const [name, done] of [["language", speak], ["theme", paint]]) {
    const before = document.getElementById(`${name}-${remembered("localStorage", `postmortem-${name}`)}`);
    const isAsked = name === "language" && new URLSearchParams(location.search).has("lang");
    if (before && !isAsked) before.checked = true;
    for (const input of document.querySelectorAll(`input[name=${name}]`)) {
      input.addEventListener("change", () => { remember("localStorage", `postmortem-${name}`, input.value); done(input.value); });
    }
    done(document.querySelector(`input[name=${name}]:checked`).value);
  }

  const form = document.getElementById("ask");
  if (!form) return;
  const at = (id) => document.getElementById(id);
  const make = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  // Each phrase in every language, as the rest of the page has it.
  const both = (key, filled = (phrase) => phrase) => Object.values(words).map((one) => make("span", { lang: one.tag }, filled(one[key])));
  const say = (key) => at("status").replaceChildren(...(key ? both(key) : []));
  const MIB = 2 ** 20;

  const keep = (files) => {
    const kept = new DataTransfer();
    for (const file of files) kept.items.add(file);
    at("files").files = kept.files;
    at("chosen").replaceChildren(...[...files].map((file, place) => {
      const button = make("button", { type: "button" }, ...both("remove"), make("span", { className: "hidden" }, ` ${file.name}`));
      button.addEventListener("click", () => keep([...at("files").files].filter((_, other) => other !== place)));
      return make("li", {}, make("bdi", {}, `${file.name} · ${(file.size / MIB).toFixed(file.size < MIB ? 3 : 1)} MiB`), button);
    }));
  };
  let before = [];
  at("files").addEventListener("click", () => { before = [...at("files").files]; });
  at("files").addEventListener("change", () => { keep([...before, ...at("files").files]); before = []; });
  let depth = 0;
  const isFiles = (event) => event.dataTransfer?.types.includes("Files");
  const drag = (change) => { depth = Math.max(0, change); document.body.classList.toggle("dragging", depth > 0); };
  addEventListener("dragenter", (event) => { if (isFiles(event)) drag(depth + 1); });
  addEventListener("dragleave", (event) => { if (isFiles(event)) drag(depth - 1); });
  addEventListener("dragover", (event) => { if (isFiles(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    drag(0);
    keep([...at("files").files, ...event.dataTransfer.files]);
  });

  const fail = (key, detail = [], filled = undefined) => {
    say("");
    at("error").replaceChildren(make("p", {}, make("strong", {}, ...both(key, filled))), ...detail.filter(Boolean).map((text) => make("p", {}, text)), make("p", { className: "soft" }, ...both("kept")));
    at("error").hidden = false;
  };
  const ask = (needed) => {
    at("token-field").hidden = !needed;
    if (needed) at("token").focus();
  };
  at("token").value = remembered("sessionStorage", "postmortem-token") ?? "";

  const told = async (answer) => {
    let error = {};
    try { error = (await answer.json()).error ?? {}; } catch { /* not of this service: a proxy's page */ }
    const key = `error.${answer.status}` in words.en ? `error.${answer.status}` : "error.other";
    const seconds = answer.headers.get("Retry-After") ?? "?";
    fail(key, [error.what, error.mend], (phrase) => phrase.replace("{seconds}", seconds).replace("{status}", answer.status));
    if (answer.status === 401) ask(true);
  };
  let page = "";
  const show = (text) => {
    page = text;
    frame.srcdoc = text;
    at("result").hidden = false;
    say("done");
    at("report").focus();
    at("result").scrollIntoView({ block: "start" });
  };
  let under = null;
  const busy = (is) => { at("send").disabled = is; at("cancel").hidden = !is; form.setAttribute("aria-busy", String(is)); };
  const send = async (body) => {
    under = new AbortController();
    const token = at("token").value.trim();
    busy(true);
    say("working");
    try {
      const answer = await fetch("/api/analyze", { method: "POST", body, signal: under.signal, headers: token ? { Authorization: `Bearer ${token}` } : {} });
      if (!answer.ok) { await told(answer); return; }
      const text = await answer.text();
      if (token) remember("sessionStorage", "postmortem-token", token);
      show(text);
    } catch {
      if (under.signal.aborted) say("cancelled"); else fail("error.0");
    } finally {
      busy(false);
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (under && at("send").disabled) return;
    at("error").hidden = true;
    at("result").hidden = true;
    const text = at("text").value;
    const files = [...at("files").files];
    if (!text.trim() && !files.length) { fail("error.empty"); return; }
    const size = [...files, ...at("env").files].reduce((sum, file) => sum + file.size, new Blob([text]).size);
    if (size > Number(form.dataset.most) * MIB) { fail("error.large", [], (phrase) => phrase.replace("{most}", form.dataset.most)); return; }
    const body = new FormData(form);
    body.set("format", "html");
    body.set("lang", language());
    send(body);
  });
  at("cancel").addEventListener("click", () => under?.abort());
  at("again").addEventListener("click", () => { at("text").focus(); form.scrollIntoView({ block: "start" }); });
  at("save").addEventListener("click", () => {
    const link = make("a", { href: URL.createObjectURL(new Blob([page], { type: "text/html" })), download: "postmortem-report.html" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
})();
