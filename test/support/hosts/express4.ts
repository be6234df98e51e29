import { createRequire } from 'node:module'
import type express from 'express'
import { expressHost } from './express.ts'
import type { Host } from './host.ts'

const require = createRequire(import.meta.url)
export const express4: typeof express = require('express4')

export const express4Host: Host = expressHost('Express 4', express4)
