import { narrowApproval, wideApproval } from './approval.ts'
import { DATABASE, type Flow, NOTIFICATIONS, type Outcome, RUNS, SERVER } from './flows.ts'
import { arrow, box, document, line, PALETTES, type Palette, type Rectangle, rectangle, store, text } from './svg.ts'

const LABEL =
  'Two flows through your server and your database: an app posts an event, which becomes an outcome per channel; an agent posts runs, which become one record per run, and asks a person before it goes on'

const ROWS = [
  { flow: NOTIFICATIONS, y: 64 },
  { flow: RUNS, y: 240 },
]

/** Both flows from left to right: callers, the server, outcomes. */
function wide(palette: Palette): string {
  return document(palette, LABEL, 880, 440, [
    rectangle({ x: 222, y: 36, width: 428, height: 368 }, 'panel'),
    text(238, 60, '', SERVER),
    store({ x: 392, y: 14, width: 100, height: 412 }),
    text(442, 224, 'middle title', 'Your'),
    text(442, 242, 'middle title', 'database'),
    ...ROWS.flatMap(({ flow, y }) => wideRow(flow, y)),
  ])
}

function wideRow({ title, caller, request, answer, decide, stored, work, outcomes }: Flow, y: number): string[] {
  const middle = y + 74
  const at = (x: number, width: number): Rectangle => ({ x, y: middle - 42, width, height: 84 })
  return [
    text(16, y - 4, 'head', title),
    box(at(16, 122), [caller.title, ...caller.details]),
    text(180, middle - 18, 'middle', request),
    arrow([138, middle - 10], [238, middle - 10]),
    arrow([238, middle + 10], [138, middle + 10]),
    text(180, middle + 27, 'middle', answer),
    box(at(238, 126), [decide.title, ...decide.details]),
    arrow([364, middle], [392, middle]),
    text(442, middle + 5, 'middle', stored),
    arrow([492, middle], [520, middle]),
    box(at(520, 114), [work.title, ...work.details]),
    line(`M634 ${middle}H668M668 ${middle - 52}V${middle + 52}`),
    ...outcomes.flatMap((outcome, index) => {
      const place = { x: 694, y: middle - 75 + index * 52, width: 172, height: 46 }
      return [arrow([668, place.y + 23], [694, place.y + 23]), chip(outcome, place)]
    }),
  ]
}

/** A title at the left, its state at the right, and a line below. */
function chip({ title, state, detail, tone }: Outcome, place: Rectangle): string {
  const [left, right] = [place.x + 11, place.x + place.width - 11]
  return [
    rectangle(place, 'box'),
    text(left, place.y + 19, 'title', title),
    text(right, place.y + 19, `end ${tone}`, state),
    text(left, place.y + 37, '', detail),
  ].join('')
}

const NARROW_HEIGHT = 556

/** One flow below the other, from top to bottom: for a phone. */
function narrow(palette: Palette): string {
  const flows = [NOTIFICATIONS, RUNS].flatMap((flow, index) => narrowFlow(flow, index * NARROW_HEIGHT))
  return document(palette, LABEL, 344, 2 * NARROW_HEIGHT, flows)
}

function narrowFlow({ title, caller, request, answer, decide, stored, work, outcomes }: Flow, top: number): string[] {
  const at = (y: number, height: number): Rectangle => ({ x: 28, y: top + y, width: 288, height })
  const down = (x: number, y: number, length: number): string => arrow([x, top + y], [x, top + y + length])
  const cylinder = at(226, 64)
  return [
    text(12, top + 32, 'head', title),
    box(at(46, 52), [caller.title, caller.details.join(' ')]),
    text(110, top + 119, 'end', request),
    text(234, top + 119, '', answer),
    rectangle({ x: 12, y: top + 128, width: 320, height: 244 }, 'panel'),
    text(28, top + 147, '', SERVER),
    down(120, 98, 56),
    arrow([224, top + 154], [224, top + 98]),
    box(at(154, 52), [decide.title, decide.details.join(' ')]),
    down(172, 206, 20),
    store(cylinder),
    text(172, top + 261, 'middle title', DATABASE),
    text(172, top + 279, 'middle', stored),
    down(172, 290, 18),
    box(at(308, 52), [work.title, work.details.join(' ')]),
    down(172, 360, 30),
    ...outcomes.map((outcome, index) => chip(outcome, at(390 + index * 52, 46))),
  ]
}

/** Every committed picture, by its file name. */
export function drawings(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(PALETTES).flatMap(([theme, palette]) => [
      [`flows-${theme}.svg`, wide(palette)],
      [`flows-narrow-${theme}.svg`, narrow(palette)],
      [`approval-${theme}.svg`, wideApproval(palette)],
      [`approval-narrow-${theme}.svg`, narrowApproval(palette)],
    ]),
  )
}
