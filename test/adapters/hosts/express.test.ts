import { express5Host } from '../../support/hosts/express.ts'
import { express4Host } from '../../support/hosts/express4.ts'
import { testHost } from '../matrix/matrix.ts'

testHost(express5Host)
testHost(express4Host)
