import * as v from 'valibot'

/** The data of the measured event. */
export interface Order {
  readonly orderId: string
  readonly total: number
  readonly items: readonly { readonly name: string }[]
}

/** The schema of {@link Order}. */
export const orderSchema: v.GenericSchema<Order> = v.object({
  orderId: v.string(),
  total: v.number(),
  items: v.array(v.object({ name: v.string() })),
})

/** An order with five items. */
export const order: Order = {
  orderId: 'A-1001',
  total: 149.9,
  items: ['lamp', 'bulb', 'cord', 'base', 'shade'].map((name) => ({ name })),
}

const filler = 'Thank you for your order. '.repeat(36)

/** A mail of about 1 KB with a loop over the items, as functions. */
export const subjectOf = ({ orderId }: Order): string => `Order ${orderId} shipped`

export const htmlOf = ({ items }: Order): string =>
  `<p>${filler}</p><ul>${items.map(({ name }) => `<li>${name}</li>`).join('')}</ul>`

/** The same mail in Liquid, with `root` as the name of the data. */
export const liquidMail = (root: string): { readonly subject: string; readonly html: string } => ({
  subject: `Order {{ ${root}.orderId }} shipped`,
  html: `<p>${filler}</p><ul>{% for item in ${root}.items %}<li>{{ item.name }}</li>{% endfor %}</ul>`,
})
