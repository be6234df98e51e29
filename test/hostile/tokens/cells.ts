import { application, CALLERS, type Caller, DOORS, own, sessionCallers } from './callers.ts'
import { claimFaults } from './claim-faults.ts'
import type { Fault, Faults } from './fault.ts'
import { headerFaults } from './header-faults.ts'
import { jwsFaults } from './jws-faults.ts'
import { ownFaults } from './own-faults.ts'
import { scopeFaults } from './scope-faults.ts'
import { secretFaults } from './secret-faults.ts'

/** All that can be wrong with what a caller sends: the rows of the matrix for it. */
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

/** A caller at a door, and the rows of the matrix that are asked of it. */
export interface Section {
  readonly name: string
  readonly caller: Caller
  readonly door: string
  readonly rows: readonly (readonly [name: string, fault: Fault])[]
}

/** The whole matrix: every kind of token, alone and among others, with all that can be wrong. Every row is asked four ways. */
export const MATRIX: readonly Section[] = CALLERS.flatMap((caller) => {
  const rows = Object.entries(faultsOf(caller))
  return Object.keys(DOORS).map((door) => ({ name: `${caller.name}, ${door},`, caller, door, rows }))
})
