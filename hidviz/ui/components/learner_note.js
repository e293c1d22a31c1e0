// What a learner assumes and costs, and its equations behind a fold; those in play are marked.

export function render({ model }) {
  const summary = make("p")
  const reason = make("span")
  const take = button({}, () => model.send_msg({ press: "advice" }))
  const learned = make("p")
  const list = make("ol", { tabindex: 0, "aria-label": _("Equations") })
  const fold = make("details", {}, make("summary", {}, _("Equations")), list)
  const root = make("div", { class: "note" }, summary, make("p", {}, reason, take), learned, fold)

  const tell = () => {
    say(summary, model.summary)
    say(reason, `${_("When to stop: {advice}", { advice: model.advice })} `)
    say(take, model.offer)
    take.hidden = !model.offer
    say(learned, model.learned)
    learned.hidden = !model.learned
  }
  const mark = () => {
    [...list.children].forEach((line, k) => line.classList.toggle("active", model.active.includes(k)))
    if (model.active.length) { fold.open = true }
  }
  const write = () => {
    list.replaceChildren(...model.equations.map((tex) => {
      if (!window.katex) { return make("li", {}, tex) }
      const line = make("li")
      window.katex.render(tex, line, { output: "mathml", displayMode: true, throwOnError: false })
      return line
    }))
    mark()
  }
  model.on("active", mark)
  follow(model, ["summary", "advice", "offer", "learned"], tell)
  follow(model, ["equations"], write)
  return themed(model, root)
}
