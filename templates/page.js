// Switches and copy buttons; without a script the page is whole: the switches work, the text can be selected.
(() => {
  "use strict";
  const root = document.documentElement;
  const articles = [...document.querySelectorAll("article")];
  const shown = () => articles.find((one) => one.offsetParent !== null) ?? articles[0];
  const tell = (name) => document.dispatchEvent(new Event(name));
  const remembered = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* a page from a file may have no storage */ } };

  // The section that is being read stays in view when the language changes.
  let current = shown();
  let place = null;
  const note = () => {
    const parts = [...current.querySelectorAll(":scope > [id]")].map((one) => ({ id: one.id, top: one.getBoundingClientRect().top }));
    const part = parts.findLast((one) => one.top <= 120);
    place = part ? { name: part.id.slice(current.dataset.language.length), top: part.top } : null;
  };
  addEventListener("scroll", note, { passive: true });
  // Curves that are drawn when they come into view change the height of what stands above the place: it is held for a moment.
  let held = null;
  const hold = () => {
    const part = held && document.getElementById(current.dataset.language + held.name);
    if (part) scrollBy({ top: part.getBoundingClientRect().top - held.top, behavior: "instant" });
  };
  const grown = new ResizeObserver(() => {
    if (held && performance.now() < held.until) hold();
    else if (current.offsetParent) note();
  });
  articles.forEach((one) => grown.observe(one));
  for (const act of ["pointerdown", "keydown", "wheel", "touchmove"]) addEventListener(act, () => { held = null; }, { passive: true });    // the reader goes elsewhere
  // A long stretch of the log opens at its failure.
  const open = (article) => {
    for (const log of article.querySelectorAll(".log")) {
      const marked = log.querySelector(".marked") ?? log.querySelector(".cited");
      if (marked && !log.scrollTop) log.scrollTop = marked.offsetTop - log.clientHeight / 3;
    }
  };
  open(current);
  const speak = (language) => {
    const next = articles.find((one) => one.dataset.language === language);
    if (!next || next === current) return;
    document.getElementById(`language-${language}`).checked = true;
    current = next;
    root.lang = next.lang;
    document.title = next.dataset.title;
    open(next);
    held = place && { ...place, until: performance.now() + 600 };
    hold();
    tell("languagechange");
  };
  for (const input of document.querySelectorAll("input[name=language]")) {
    input.addEventListener("change", () => { remember("postmortem-language", input.value); speak(input.value); });
  }
  speak(remembered("postmortem-language"));

  const paint = (theme) => {
    if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
    tell("themechange");
  };
  for (const input of document.querySelectorAll("input[name=theme]")) {
    input.addEventListener("change", () => { remember("postmortem-theme", input.value); paint(input.value); });
  }
  const theme = document.getElementById(`theme-${remembered("postmortem-theme")}`);
  if (theme) { theme.checked = true; paint(theme.value); }

  // A link into the article of the other language brings that language; a line within a folded part unfolds it.
  const arrive = () => {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { /* an address typed by hand */ }
    const target = document.getElementById(name);
    const article = target?.closest("article");
    if (!article) return;
    speak(article.dataset.language);
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView({ block: target.closest(".log") ? "center" : "start" });
  };
  addEventListener("hashchange", arrive);
  arrive();

  const selected = (block) => {
    const range = document.createRange();
    range.selectNodeContents(block);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    const done = document.execCommand("copy");
    selection.removeAllRanges();
    return done;
  };
  const copy = async (block) => {
    try {
      await navigator.clipboard.writeText(block.textContent.replace(/\n$/, ""));
      return true;
    } catch {
      return selected(block);
    }
  };
  for (const block of document.querySelectorAll("article pre")) {
    const { copy: name, copied: done } = block.closest("article").dataset;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = name;
    button.addEventListener("click", async () => {
      button.textContent = (await copy(block)) ? done : name;
      setTimeout(() => { button.textContent = name; }, 2000);
    });
    const frame = document.createElement("div");
    frame.className = "snippet";
    block.replaceWith(frame);
    frame.append(block, button);
  }
})();
