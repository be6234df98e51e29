import { arrow, box, document, line, type Palette, rectangle, text } from './svg.ts'

const LABEL =
  'The way of an approval in eight steps: an agent asks, one commit stores the question and its messages, a mail leads an approver to a page, one answer is recorded, the agent wakes, consumes the action and runs the tool'

type Party = 'agent' | 'server' | 'approver'

/** One step. Rows are counted from the top. */
interface Step {
  readonly party: Party
  readonly row: number
  readonly title: string
  readonly detail: string
}

/** In the order in which they happen. */
const STEPS: readonly Step[] = [
  { party: 'agent', row: 0, title: 'Agent asks', detail: 'refund, 900 USD' },
  { party: 'server', row: 0, title: 'One commit', detail: 'question and messages' },
  { party: 'approver', row: 0, title: 'Mail', detail: 'with a signed link' },
  { party: 'approver', row: 1, title: 'Page', detail: 'shows the whole action' },
  { party: 'server', row: 1, title: 'One answer', detail: 'the first decides' },
  { party: 'agent', row: 1, title: 'Agent wakes', detail: 'accepted' },
  { party: 'server', row: 2, title: 'Consume', detail: 'this action, once' },
  { party: 'agent', row: 2, title: 'Tool runs', detail: 'refund, 900 USD' },
]

const COLUMNS: Readonly<Record<Party, { readonly head: string; readonly x: number }>> = {
  agent: { head: 'Your agent', x: 16 },
  server: { head: 'Your server and database', x: 334 },
  approver: { head: 'An approver', x: 652 },
}
const [WIDTH, HEIGHT] = [212, 64]
const middleOf = (row: number): number => 94 + row * 96

/** From the agent to the right, back to the agent, and to the server and back again. */
export function wideApproval(palette: Palette): string {
  const { agent, server, approver } = COLUMNS
  const [first, second, third] = [middleOf(0), middleOf(1), middleOf(2)]
  const bend = (agent.x + WIDTH + server.x) / 2
  const boxes = STEPS.map(({ party, row, title, detail }, index) =>
    box({ x: COLUMNS[party].x, y: middleOf(row) - HEIGHT / 2, width: WIDTH, height: HEIGHT }, [
      `${index + 1} ${title}`,
      detail,
    ]),
  )
  return document(palette, LABEL, 880, 344, [
    rectangle({ x: server.x - 20, y: 48, width: WIDTH + 40, height: 284 }, 'panel'),
    ...Object.values(COLUMNS).map(({ head, x }) => text(x + WIDTH / 2, 32, 'middle head', head)),
    ...boxes,
    arrow([agent.x + WIDTH, first], [server.x, first]),
    arrow([server.x + WIDTH, first], [approver.x, first]),
    arrow([approver.x + WIDTH / 2, first + HEIGHT / 2], [approver.x + WIDTH / 2, second - HEIGHT / 2]),
    arrow([approver.x, second], [server.x + WIDTH, second]),
    arrow([server.x, second - 12], [agent.x + WIDTH, second - 12]),
    line(`M${agent.x + WIDTH} ${second + 12}H${bend}V${third - 12}`),
    arrow([bend, third - 12], [server.x, third - 12]),
    arrow([server.x, third + 12], [agent.x + WIDTH, third + 12]),
  ])
}

const STRIDE = 74

/** One step below the other: for a phone. */
export function narrowApproval(palette: Palette): string {
  return document(palette, LABEL, 344, STEPS.length * STRIDE + 4, [
    ...STEPS.flatMap(({ title, detail }, index) => {
      const y = 12 + index * STRIDE
      const boxed = box({ x: 28, y, width: 288, height: 54 }, [`${index + 1} ${title}`, detail])
      return index === 0 ? [boxed] : [arrow([172, y - STRIDE + 54], [172, y]), boxed]
    }),
  ])
}
