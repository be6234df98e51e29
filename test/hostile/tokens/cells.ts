import { application, CALLERS, type Caller, own, PLACEMENTS, sessionCallers } from './callers.ts'
import { claimFaults } from './claim-faults.ts'
import type { Fault, Faults } from './fault.ts'
import { headerFaults } from './header-faults.ts'
import { jwsFaults } from './jws-faults.ts'
import { ownFaults } from './own-faults.ts'
import { scopeFaults } from './scope-faults.ts'
import { secretFaults } from './secret-faults.ts'

/** All faults of a caller's requests: its rows of the matrix. */
function faultsOf(caller: Caller): Faults {
  const session = sessionCallers.find((each) => each === caller)
  const parts: Readonly<Record<string, Faults>> = {
    header: headerFaults(caller),
    ...(caller === application && { secret: secretFaults }),
    ...(session && { token: jwsFaults(session), claims: claimFaults(session) }),
    ...(caller === own && { verifier: ownFaults }),
    scope: scopeFaults(caller),
  }
  return Object.fromEntries(
    Object.entries(parts).flatMap(([part, faults]) =>
      Object.entries(faults).map(([name, fault]) => [`${part}: ${name}`, fault]),
    ),
  )
}

/** A caller with a placement of its verifier, and the rows to check. */
export interface Section {
  readonly name: string
  readonly caller: Caller
  readonly placement: string
  readonly rows: readonly (readonly [name: string, fault: Fault])[]
}

/** The whole matrix: every caller, alone and within `anyOf`, with all faults. Each row sends four requests. */
export const MATRIX: readonly Section[] = CALLERS.flatMap((caller) => {
  const rows = Object.entries(faultsOf(caller))
  return Object.keys(PLACEMENTS).map((placement) => ({ name: `${caller.name}, ${placement}`, caller, placement, rows }))
})
