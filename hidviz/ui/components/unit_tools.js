// What else hands can do to hidden units: swap two of them, which is a symmetry, or flip half of one, which is not.

export function render({ model }) {
  const choice = (label) => make("select", { "aria-label": label })
  const [first, second, which] = [_("First unit to swap"), _("Second unit to swap"), _("Unit to break")].map(choice)
  const exchange = () => model.send_msg({ swap: [Number(first.value), Number(second.value)] })
  const swap = make("span", {}, button({}, exchange, _("Swap hidden units")), first,
    make("span", { "aria-hidden": "true" }, "↔"), second)
  const broken = make("span", { class: "broken" }, _("Flip only half of unit"), which,
    ...["K", "L"].map((block) => button({ title: _("Flip {block} alone: not a symmetry, the cost jumps", { block }) },
      () => model.send_msg({ broken: [Number(which.value), block] }), _("Flip {block} only", { block }))))
  const root = make("div", { class: "tools" }, swap, broken)

  follow(model, ["n"], () => {
    for (const menu of [first, second, which]) {
      menu.replaceChildren(...Array.from({ length: model.n }, (_, unit) => make("option", { value: unit }, unit + 1)))
    }
    second.value = String(Math.min(1, model.n - 1))
    root.hidden = model.n < 1
    swap.hidden = model.n < 2
  })
  return themed(model, root)
}
