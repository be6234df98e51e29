import './budgets.css'
import { withQuery } from '../../../console/app/api.ts'
import { host } from '../../../console/app/host.ts'
import { Badge, Explained, Failure } from '../../../console/app/parts.tsx'
import { type Loaded, useRead } from '../../../console/app/reading.ts'
import type { Redacted } from '../../../console/app/redacted.ts'
import type { Addition, RunsOf } from '../../../console/app/section.ts'
import { amountOf, count, isNumber, textOf } from '../../../console/app/words.ts'
import type { BudgetReport, BudgetState } from '../../../model/budget.ts'
import { explainBudget } from './explain-budget.ts'

/** Budgets of a session, or of a user. */
export function useBudgets(of: RunsOf): Addition {
  const isAsked = Object.values(of).some((id) => id !== undefined) && host.offers.has('check_budgets')
  const read = useRead<BudgetReport>(isAsked ? withQuery('agents/budgets', { ...of }) : undefined)
  const isReady = !isAsked || read.data !== undefined || read.problem !== undefined
  return { isReady, shown: isAsked && <Budgets of={read} /> }
}

/** A bar for each limit of a budget, and words. */
function Budgets({ of: { data, problem } }: { readonly of: Loaded<Redacted<BudgetReport>> }) {
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
