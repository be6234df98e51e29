import { describe, expect, it } from 'vitest'
import { runTree } from '../../../../src/core/runs/sessions/run-tree.ts'
import type { Run } from '../../../../src/model/run.ts'
import type { RunNode } from '../../../../src/model/session.ts'
import { fc, runs } from '../../../support/properties.ts'

function run(runId: string, parentRunId?: string, more: Partial<Run> = {}): Run {
  const at = '2026-11-21T08:00:00.000Z'
  const times = { createdAt: at, updatedAt: at, lastSeenAt: at }
  return {
    runId,
    sessionId: 's1',
    status: 'running',
    ...times,
    revision: 1,
    ...(parentRunId && { parentRunId }),
    ...more,
  }
}

/** Such as `a(b(c) d)`; a parent outside the tree follows a `<`. */
function drawn(nodes: readonly RunNode[]): string {
  return nodes
    .map(({ runId, parentRunId, children }) => {
      const descendants = children.length > 0 ? `(${drawn(children)})` : ''
      return `${runId}${parentRunId === undefined ? '' : `<${parentRunId}`}${descendants}`
    })
    .join(' ')
}

describe('runTree', () => {
  it.each<[string, readonly (readonly [string, string?])[], string]>([
    ['nothing', [], ''],
    ['runs of which none started another', [['a'], ['b']], 'a b'],
    ['runs that started others', [['a'], ['b', 'a'], ['c', 'b'], ['d', 'a'], ['e']], 'a(b(c) d) e'],
    ['a parent that was recorded later', [['b', 'a'], ['c', 'a'], ['a']], 'a(b c)'],
    [
      'a parent that is not here',
      [
        ['b', 'x'],
        ['c', 'b'],
      ],
      'b<x(c)',
    ],
    [
      'a run that started itself',
      [
        ['a', 'a'],
        ['b', 'a'],
      ],
      'a<a(b)',
    ],
    [
      'two that started each other',
      [
        ['a', 'b'],
        ['b', 'a'],
        ['c', 'b'],
      ],
      'a<b(b(c))',
    ],
    [
      'a ring that is met from outside',
      [
        ['t', 'c'],
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
      ],
      'c<a(t b(a))',
    ],
    [
      'ids that every object has',
      [
        ['toString', '__proto__'],
        ['__proto__', 'constructor'],
      ],
      '__proto__<constructor(toString)',
    ],
  ])('runTree builds a tree of %s', (_, runs, expected) => {
    expect(drawn(runTree(runs.map(([id, parent]) => run(id, parent))))).toBe(expected)
  })

  it('A node has the short facts of its run', () => {
    const agent = { name: 'planner' }
    const timings = { startedAt: '2026-11-21T08:00:00.000Z', endedAt: '2026-11-21T08:00:01.000Z', durationMs: 1000 }
    const [node, bare] = runTree([
      run('a', 'x', { status: 'failed', agent, model: 'gpt-6', timings, error: { type: 'x' } }),
      run('b'),
    ])
    expect(node).toEqual({
      runId: 'a',
      status: 'failed',
      agent,
      model: 'gpt-6',
      startedAt: '2026-11-21T08:00:00.000Z',
      durationMs: 1000,
      parentRunId: 'x',
      children: [],
    })
    expect(bare).toEqual({ runId: 'b', status: 'running', children: [] })
  })

  it('Every run is in the tree once, in order, below its parent unless that closes a cycle', () => {
    const size = 8
    const parents = fc.array(fc.option(fc.nat(size)), { minLength: size, maxLength: size })
    fc.assert(
      fc.property(parents, (given) => {
        const runs = given.map((parent, n) => run(`${n}`, parent === null ? undefined : `${parent}`))
        const seen: string[] = []
        const cut: string[] = []
        const visit = (nodes: readonly RunNode[], ancestors: string | undefined): void => {
          const ids = nodes.map(({ runId }) => Number(runId))
          expect(ids).toEqual(ids.toSorted((a, b) => a - b))
          for (const node of nodes) {
            seen.push(node.runId)
            const parent = given[Number(node.runId)]
            if (ancestors === undefined) {
              expect(node.parentRunId).toBe(parent === null ? undefined : `${parent}`)
              if (parent !== null && Number(parent) < size) cut.push(node.runId)
            } else {
              expect(ancestors).toBe(`${parent}`)
              expect(node.parentRunId).toBeUndefined()
            }
            visit(node.children, node.runId)
          }
        }
        visit(runTree(runs), undefined)
        expect(seen.toSorted()).toEqual(runs.map(({ runId }) => runId))
        for (const id of cut) expect(leadsBack(id, given)).toBe(true)
      }),
      { numRuns: runs(500) },
    )
  })

  it('A long chain of runs is built without deep recursion', () => {
    const runs = Array.from({ length: 500 }, (_, n) => run(`r${n}`, `r${n + 1}`))
    const [top, ...others] = runTree([...runs, run('r500')])
    expect(others).toEqual([])
    expect(JSON.stringify(top).match(/runId/g)).toHaveLength(501)
  })
})

function leadsBack(id: string, parents: readonly (number | null)[]): boolean {
  let at = parents[Number(id)]
  for (let steps = 0; steps <= parents.length; steps++) {
    if (at === null || at === undefined) return false
    if (at === Number(id)) return true
    at = parents[at]
  }
  return false
}
