import { nextHost } from '../../support/hosts/next.ts'
import { testHost } from '../matrix/matrix.ts'

testHost(nextHost)
