import { describe, expect, it } from 'vitest'
import { narrowGrants } from '../../../src/plugins/agent-tokens/narrow-grants.ts'

const GRANT = { events: ['e', 'f'], channels: ['a'], recipients: ['jane', 'joe'] }
const part = { events: ['e'], channels: ['a'], recipients: ['joe'] }

const issue = (pointer: string, detail: string) => ({ pointer, code: 'not_allowed', detail })

describe('grants for a sub-agent', () => {
  it('Grants within those of the parent are taken as asked', () => {
    expect(narrowGrants({ dispatch: GRANT, runEvents: 5 }, { dispatch: part, runEvents: 5 })).toEqual({
      dispatch: part,
      runEvents: 5,
    })
  })

  it('Absent limits are those of the parent, and run events are 20 at most', () => {
    const limited = { dispatch: { ...GRANT, maxDispatches: 3 }, runEvents: 5 }
    expect(narrowGrants(limited, { dispatch: part })).toEqual({ dispatch: { ...part, maxDispatches: 3 }, runEvents: 5 })
    expect(narrowGrants({ dispatch: GRANT, runEvents: 50 }, {})).toEqual({ runEvents: 20 })
    expect(narrowGrants({}, {})).toEqual({ runEvents: 20 })
    const unlimited = narrowGrants({ dispatch: GRANT }, { dispatch: part })
    expect('dispatch' in unlimited && unlimited.dispatch).not.toHaveProperty('maxDispatches')
  })

  it('Everything beyond the parent is an issue, each with its place', () => {
    const dispatch = { events: ['x', 'e', 'y'], channels: ['b'], recipients: ['jim'], maxDispatches: 4 }
    expect(
      narrowGrants({ dispatch: { ...GRANT, maxDispatches: 3 }, runEvents: 5 }, { dispatch, runEvents: 6 }),
    ).toEqual({
      issues: [
        ...['events/0', 'events/2', 'channels/0', 'recipients/0'].map((place) =>
          issue(`/grants/dispatch/${place}`, 'the token does not grant it'),
        ),
        issue('/grants/dispatch/maxDispatches', 'the token grants 3'),
        issue('/grants/runEvents', 'the token grants 5'),
      ],
    })
    expect(
      narrowGrants({ dispatch: { ...GRANT, maxDispatches: 3 } }, { dispatch: { ...part, maxDispatches: 3 } }),
    ).toEqual({
      dispatch: { ...part, maxDispatches: 3 },
      runEvents: 20,
    })
  })

  it('Approvals lie within those of the parent, too', () => {
    const approval = { events: ['e', 'f'], maxApprovals: 3 }
    expect(narrowGrants({ approval }, { approval: { events: ['f'] } })).toEqual({
      approval: { events: ['f'], maxApprovals: 3 },
      runEvents: 20,
    })
    expect(narrowGrants({ approval }, {})).toEqual({ runEvents: 20 })
    expect(narrowGrants({ approval }, { approval: { events: ['x'], maxApprovals: 4 } })).toEqual({
      issues: [
        issue('/grants/approval/events/0', 'the token does not grant it'),
        issue('/grants/approval/maxApprovals', 'the token grants 3'),
      ],
    })
    expect(narrowGrants({}, { approval })).toEqual({
      issues: [issue('/grants/approval', 'the token grants no approvals')],
    })
  })

  it('A token without dispatches grants none', () => {
    expect(narrowGrants({}, { dispatch: part })).toEqual({
      issues: [issue('/grants/dispatch', 'the token grants no dispatch')],
    })
  })
})
