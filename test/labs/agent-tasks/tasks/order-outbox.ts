import assert from 'node:assert/strict'
import Database from 'libsql'
import { type Task, task } from '../task.ts'

interface Solution {
  open(options: { file: string; smtpPort: number }): Promise<{
    placeOrder(order: { id: string; email: string }): Promise<void>
    deliver(): Promise<void>
    close(): Promise<void>
  }>
}

export const orderOutbox: Task = task<Solution>(
  'order-outbox',
  `
\`\`\`ts
export function open(options: { file: string; smtpPort: number }): Promise<{
  placeOrder(order: { id: string; email: string }): Promise<void>
  deliver(): Promise<void>
  close(): Promise<void>
}>
\`\`\`

\`file\` is the path of a new SQLite database, for libsql and Kysely. Create the table \`orders (id text primary key, email text)\`
and the tables of sallyport in it.
\`placeOrder\` inserts the order and dispatches a mail with the subject \`Order <id>\` to \`email\`, in one transaction.
If sallyport refuses the dispatch, for example because \`email\` is no address, the promise rejects and there is no order.
If the order cannot be inserted, the promise rejects and no mail is sent.
\`close\` closes the database.
`,
  async ({ open }, { mailServer, file, atEnd }) => {
    const smtp = await mailServer()
    const path = await file('shop.db')
    const { placeOrder, deliver, close } = await open({ file: path, smtpPort: smtp.port })
    atEnd(close)
    await placeOrder({ id: 'A-1', email: 'ada@example.com' })
    await assert.rejects(placeOrder({ id: 'A-2', email: 'nobody' }), 'a refused dispatch rejects')
    await assert.rejects(placeOrder({ id: 'A-1', email: 'bob@example.com' }), 'a repeated id rejects')
    await placeOrder({ id: 'A-3', email: 'eve@example.com' })
    await deliver()
    const rows = new Database(path).prepare('select id from orders order by id').all() as { readonly id: string }[]
    assert.deepEqual(
      rows.map(({ id }) => id),
      ['A-1', 'A-3'],
    )
    assert.deepEqual(smtp.mails.map(({ subject }) => subject).sort(), ['Order A-1', 'Order A-3'])
  },
)
