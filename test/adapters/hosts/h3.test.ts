import { h3Host } from '../../support/hosts/h3.ts'
import { testHost } from '../matrix/matrix.ts'

testHost(h3Host)
