import { express4Host, express5Host } from '../../support/hosts/express.ts'
import { testHost } from '../matrix/matrix.ts'

testHost(express5Host)
testHost(express4Host)
