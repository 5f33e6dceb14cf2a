/* What a word means, with a picture: opened by pointing, by a tap and by Enter; closed by Escape. Without this, a word is a link to the glossary. */
(function () {
  "use strict";
  const words = document.querySelectorAll("a.pa-word");
  if (!words.length || !HTMLElement.prototype.showPopover) return;
  const pictures = new URL("words.svg", document.currentScript.src);
  const box = document.createElement("span");
  box.id = "pa-meaning";
  box.className = "pa-meaning";
  box.popover = "auto"; // Escape and a tap elsewhere close it.
  box.innerHTML = '<img alt="" width="100" height="60"><span></span> <a>Glossary</a>';
  const [picture, meaning, more] = box.children;
  let word = null;
  let timer = 0;

  function place() {
    const at = word.getClientRects()[0];
    const below = at.bottom + 6 + box.offsetHeight < innerHeight;
    box.style.left = `${Math.max(8, Math.min(at.left, document.documentElement.clientWidth - box.offsetWidth - 8))}px`;
    box.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - 6 - box.offsetHeight)}px`;
  }

  function open(next) {
    clearTimeout(timer);
    if (word === next && box.matches(":popover-open")) return;
    close();
    word = next;
    picture.src = `${pictures}${word.hash}`;
    meaning.textContent = word.dataset.meaning;
    more.href = word.href;
    word.after(box); // The next stop of the tab key is the link in it.
    word.setAttribute("aria-describedby", meaning.id);
    box.showPopover();
    place();
  }

  function close() {
    clearTimeout(timer);
    if (box.matches(":popover-open")) box.hidePopover();
  }

  function later(act, delay) {
    clearTimeout(timer);
    timer = setTimeout(act, delay);
  }

  meaning.id = "pa-meaning-text";
  box.addEventListener("toggle", ({ newState }) => word.setAttribute("aria-expanded", newState === "open"));
  box.addEventListener("pointerenter", () => clearTimeout(timer));
  box.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && later(close, 300));
  addEventListener("scroll", close, { passive: true });
  words.forEach((each) => {
    each.dataset.meaning = each.title;
    each.removeAttribute("title"); // Else the browser would show it as well.
    each.setAttribute("role", "button");
    each.setAttribute("aria-expanded", "false");
    const answer = (event) => {
      event.preventDefault();
      open(each);
    };
    each.addEventListener("click", (event) => event.ctrlKey || event.metaKey || event.shiftKey || answer(event));
    each.addEventListener("keydown", (event) => event.key === " " && answer(event));
    each.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && later(() => open(each), 150));
    each.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && later(close, 300));
  });
})();
