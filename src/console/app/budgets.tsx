import type { BudgetReport, BudgetState } from '../../model/budget.ts'
import { Badge, Explained, Failure } from './parts.tsx'
import type { Loaded } from './reading.ts'
import type { Redacted } from './redacted.ts'
import { explainBudget } from './sentences/run.ts'
import { amountOf, count, isNumber, textOf } from './words.ts'

/** Budgets of a session: a bar for each limit, and words. */
export function Budgets({ of: { data, problem } }: { readonly of: Loaded<Redacted<BudgetReport>> }) {
  const { budgets = [] } = data ?? {}
  if (budgets.length === 0) return problem ? <Failure of={problem} /> : null
  return (
    <section>
      <h2>Budgets</h2>
      <div class="cards">
        {budgets.map((budget) => (
          <section class="card" key={textOf(budget.name)}>
            <h3>
              {textOf(budget.name)} <Badge>{budget.level}</Badge>
            </h3>
            {spendOf(budget).map((spend) => (
              <Bar key={textOf(spend.unit)} of={spend} name={textOf(budget.name)} />
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
  readonly unit: unknown
  readonly spent: unknown
  /** `undefined`: none. */
  readonly soft: unknown
  readonly hard: unknown
}

function spendOf({ spent, soft, hard }: Redacted<BudgetState>): readonly Spend[] {
  const costs = [soft?.cost, hard?.cost].filter((cost) => cost !== undefined)
  const money = [...new Set(costs.map(({ currency }) => currency))].map((unit): Spend => {
    const within = [spent.cost, soft?.cost ?? [], hard?.cost ?? []].map((of) =>
      [of].flat().find(({ currency }) => currency === unit),
    )
    const [spentCost, softCost, hardCost] = within.map((cost) => cost && amountOf(cost.amount))
    return { unit, spent: spentCost === undefined ? 0 : spentCost, soft: softCost, hard: hardCost }
  })
  const tokens: Spend = { unit: 'tokens', spent: spent.tokens, soft: soft?.tokens, hard: hard?.tokens }
  return tokens.soft === undefined && tokens.hard === undefined ? money : [tokens, ...money]
}

function Bar({ of: { unit, spent, soft, hard }, name }: { readonly of: Spend; readonly name: string }) {
  const most = hard === undefined ? soft : hard
  const limits = [hard !== undefined && `at most ${count(hard)}`, soft !== undefined && `warns at ${count(soft)}`]
  return (
    <>
      {isNumber(spent) && isNumber(most) && (
        <meter
          aria-label={`${name} in ${textOf(unit)}`}
          value={Math.min(spent, most)}
          max={most}
          low={isNumber(soft) ? soft : most}
          high={most}
          optimum={0}
        />
      )}
      <p>
        {count(spent)} {textOf(unit)} spent: {limits.filter(Boolean).join(', ')}
      </p>
    </>
  )
}
