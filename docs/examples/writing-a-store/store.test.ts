import { test } from 'node:test'
import { tryStore } from './contract.ts'

tryStore(test)
