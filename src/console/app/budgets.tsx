import type { BudgetReport, BudgetState } from '../../model/budget.ts'
import { Badge, Explained, Failure } from './parts.tsx'
import type { Loaded } from './reading.ts'
import { explainBudget } from './sentences/run.ts'
import { count } from './words.ts'

/** Budgets of a session: a bar for each limit, and words. */
export function Budgets({ of: { data, problem } }: { readonly of: Loaded<BudgetReport> }) {
  const { budgets = [] } = data ?? {}
  if (budgets.length === 0) return problem ? <Failure of={problem} /> : null
  return (
    <section>
      <h2>Budgets</h2>
      <div class="cards">
        {budgets.map((budget) => (
          <section class="card" key={budget.name}>
            <h3>
              {budget.name} <Badge>{budget.level}</Badge>
            </h3>
            {spendOf(budget).map((spend) => (
              <Bar key={spend.unit} of={spend} name={budget.name} />
            ))}
            <p>
              <Explained of={explainBudget(budget.level)} />
            </p>
          </section>
        ))}
      </div>
    </section>
  )
}

/** Spend in one unit, and its limits. */
interface Spend {
  readonly unit: string
  readonly spent: number
  readonly soft: number | undefined
  readonly hard: number | undefined
}

function spendOf({ spent, soft, hard }: BudgetState): readonly Spend[] {
  const costs = [soft?.cost, hard?.cost].filter((cost) => cost !== undefined)
  const money = [...new Set(costs.map(({ currency }) => currency))].map((unit): Spend => {
    const within = [spent.cost, soft?.cost ?? [], hard?.cost ?? []].map((of) =>
      [of].flat().find(({ currency }) => currency === unit),
    )
    const [spentCost, softCost, hardCost] = within.map((cost) => cost && Number(cost.amount))
    return { unit, spent: spentCost ?? 0, soft: softCost, hard: hardCost }
  })
  const tokens: Spend = { unit: 'tokens', spent: spent.tokens, soft: soft?.tokens, hard: hard?.tokens }
  return tokens.soft === undefined && tokens.hard === undefined ? money : [tokens, ...money]
}

function Bar({ of: { unit, spent, soft, hard }, name }: { readonly of: Spend; readonly name: string }) {
  const most = hard ?? soft ?? 0
  const limits = [hard !== undefined && `at most ${count(hard)}`, soft !== undefined && `warns at ${count(soft)}`]
  return (
    <>
      <meter
        aria-label={`${name} in ${unit}`}
        value={Math.min(spent, most)}
        max={most}
        low={soft ?? most}
        high={most}
        optimum={0}
      />
      <p>
        {count(spent)} {unit} spent: {limits.filter(Boolean).join(', ')}
      </p>
    </>
  )
}
