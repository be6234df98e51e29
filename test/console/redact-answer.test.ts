import { expect, it } from 'vitest'
import { redactAnswer } from '../../src/console/redact-answer.ts'
import { fakeClock } from '../support/fake-clock.ts'

/** The field that the redactor gets for each value of an answer, by the pointer of the value. */
async function fieldsOf(answer: unknown): Promise<Readonly<Record<string, string>>> {
  const fields: Record<string, string> = {}
  const redact = (value: string | number | boolean, { field, pointer }: { field: string; pointer: string }) => {
    fields[pointer] = field
    return value
  }
  await redactAnswer(answer, redact, fakeClock())
  return fields
}

it.each(['actual', 'expected'])('`%s` of a trace has the name of the data that the condition read', async (member) => {
  const trace = (path: string, value: unknown) => ({ rule: '==', path, [member]: value, result: false })
  const deliveries = [{ trace: [trace('data.email', 'jane@example.com'), trace('data.user.phone', [1, ['2']])] }]
  const fields = await fieldsOf({ deliveries })
  const ofValues = Object.entries(fields).filter(([pointer]) => pointer.includes(`/${member}`))
  expect(ofValues).toEqual([
    [`/deliveries/0/trace/0/${member}`, 'email'],
    [`/deliveries/0/trace/1/${member}/0`, 'phone'],
    [`/deliveries/0/trace/1/${member}/1/0`, 'phone'],
  ])
})

it('Other members of a trace, and `actual` and `expected` without a path, keep their names', async () => {
  const answer = {
    trace: [
      { rule: '==', path: 'data.email', result: false },
      { actual: 1, expected: 2 },
    ],
  }
  expect(await fieldsOf(answer)).toEqual({
    '/trace/0/rule': 'rule',
    '/trace/0/path': 'path',
    '/trace/0/result': 'result',
    '/trace/1/actual': 'actual',
    '/trace/1/expected': 'expected',
  })
})
