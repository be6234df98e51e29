import type { Exchange } from './exchange.ts'

export const BATCH_EXCHANGES: readonly Exchange[] = [
  {
    action: 'session_run_batch',
    name: 'two_posts',
    summary: 'One recorded, one refused',
    headers: { prefer: 'return=minimal' },
    request: {
      runs: [
        { sessionId: 's1', run: { runId: 'run_2', status: 'completed', counts: { steps: 3 } } },
        { sessionId: 's2', run: { runId: 'run_1', status: 'completed' } },
      ],
    },
    status: 200,
    answer: {
      results: [
        { status: 201, created: true, changed: true, ignored: [], warnings: [] },
        {
          status: 409,
          problem: {
            type: 'urn:sallyport:problem:run_identity_conflict',
            title: 'The run is another one',
            status: 409,
            detail: 'A run keeps its sessionId. Nothing was recorded.',
            code: 'run_identity_conflict',
            requestId: 'req_01m7yhx3000000000000000001',
            errors: [
              {
                pointer: '/runs/1/sessionId',
                code: 'conflict',
                detail: 'differs from what the run was recorded with',
              },
            ],
          },
        },
      ],
      warnings: [],
    },
  },
]
