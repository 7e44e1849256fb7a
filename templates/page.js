// Copy buttons for commands and snippets; without a script the page is whole, and the text can be selected.
(() => {
  "use strict";
  const main = document.querySelector("main");
  const copied = (block) => {
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
      return copied(block);
    }
  };
  for (const block of document.querySelectorAll("#fixes pre, #need pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = main.dataset.copy;
    button.addEventListener("click", async () => {
      button.textContent = (await copy(block)) ? main.dataset.copied : main.dataset.copy;
      setTimeout(() => { button.textContent = main.dataset.copy; }, 2000);
    });
    const frame = document.createElement("div");
    frame.className = "snippet";
    block.replaceWith(frame);
    frame.append(block, button);
  }
})();
