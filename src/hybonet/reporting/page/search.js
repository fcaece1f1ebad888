// The search box: suggestions while typing, arrows to choose, Enter to go there, Escape to leave.

const MOST_SUGGESTIONS = 8;

/** How well a folded name fits what was typed: smaller is better, Infinity is not at all. */
function fit(name, typed) {
  if (name === typed) return 0;
  const at = name.indexOf(typed);
  if (at < 0) return Infinity;
  if (at === 0) return 1;
  return /[\p{L}\p{N}]/u.test(name[at - 1]) ? 3 : 2; // 2: a later word begins with it
}

function makeSearch(graph) {
  const fold = (text) => text.toLowerCase().replaceAll("_", " ").trim();
  const names = graph.names.map(fold), labels = graph.labels.map(fold);
  return {
    /** Nodes whose name or label has what was typed, best first. */
    find(typed, most = MOST_SUGGESTIONS) {
      const wanted = fold(typed);
      if (!wanted) return [];
      const found = [];
      for (let i = 0; i < names.length; i++) {
        const rank = Math.min(fit(names[i], wanted), labels.length ? fit(labels[i], wanted) : Infinity);
        if (rank < Infinity) found.push([rank, i]);
      }
      const below = graph.tree.below;
      found.sort(([rank, i], [otherRank, j]) => rank - otherRank || names[i].length - names[j].length || below[j] - below[i] || i - j);
      return found.slice(0, most).map(([, i]) => i);
    },
  };
}

function connectSearch(graph, search, go) {
  const input = document.getElementById("search"), list = document.getElementById("suggestions");
  let found = [], active = 0;

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (node) => {
    close();
    input.value = "";
    go(node);
  };
  const mark = () => {
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === active && found.length > 0)));
    if (found.length) input.setAttribute("aria-activedescendant", `suggestion-${active}`);
  };
  const open = () => {
    found = search.find(input.value);
    active = 0;
    if (!input.value.trim()) return close();
    const items = found.map((node, at) => {
      const item = element("li", { id: `suggestion-${at}`, role: "option" }, graph.names[node]);
      const detail = graph.details[node] || graph.labels[node];
      if (detail) item.append(element("small", {}, detail));
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault(); // the box keeps the focus until the choice is made
        choose(node);
      });
      return item;
    });
    list.replaceChildren(...(items.length ? items : [element("li", { class: "none" }, "no node of this name")]));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark();
  };

  input.addEventListener("input", open);
  input.addEventListener("focus", open);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) return open();
      if (found.length) active = (active + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
      mark();
    } else if (event.key === "Enter" && found.length && !list.hidden) {
      choose(found[active]);
    } else if (event.key === "Escape") {
      input.value = "";
      close();
    }
  });
}
