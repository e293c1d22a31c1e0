// Elements arrive on a page in the shadows of others, each of which has to be watched by itself.

// Call `enter` with every element there is and each that comes, and `change`, if given, with every root in which
// anything has changed, once for all that changed together. Shadows for which `opens` is false are passed over. Returns
// a function that ends it.
const watchShadows = (enter, { opens = () => true, change } = {}) => {
  const visit = (element) => {
    enter(element)
    if (element.shadowRoot && opens(element)) { watch(element.shadowRoot) }
  }
  const all = (element) => {
    visit(element)
    for (const each of element.querySelectorAll("*")) { visit(each) }
  }
  const observer = new MutationObserver((changes) => {
    const roots = new Set()
    for (const { addedNodes, target } of changes) {
      if (change) { roots.add(target.getRootNode()) }
      for (const node of addedNodes) { if (node instanceof HTMLElement) { all(node) } }
    }
    for (const root of roots) { change(root) }
  })
  const watch = (root) => {
    observer.observe(root, { childList: true, subtree: true, characterData: Boolean(change) })
    for (const each of root.querySelectorAll("*")) { visit(each) }
    if (change) { change(root) }
  }
  watch(document.body)
  return () => observer.disconnect()
}
