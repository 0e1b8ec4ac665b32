/**
 * A redirect URI that was checked against the allowed ones (D-8). Only `verifyRedirect` creates one, and redirecting
 * requires one: SPEC Authentication 10, R005, R020.
 */
import type { Brand } from '../../../base/brand.ts'
import { matchesRedirect, type RedirectPattern } from '../../../protocol/redirect-uri.ts'
import {
  isRouterCallback,
  looksLikeRouterCallback,
  type RouterCallbackPorts,
} from './router-callback.ts'

export type VerifiedRedirect = Brand<string, 'VerifiedRedirect'>

/** Of a login that ends on a device and redirects to nowhere (D-443). */
export const NO_REDIRECT = '' as VerifiedRedirect

/** Returns the URI unchanged if one of the patterns allows it or it is that of a gateway (D-392), otherwise undefined. */
export function verifyRedirect(
  ports: RouterCallbackPorts,
  text: string,
  allowed: readonly RedirectPattern[],
): VerifiedRedirect | undefined {
  return allowed.some((pattern) => matchesRedirect(pattern, text)) || isRouterCallback(ports, text)
    ? (text as VerifiedRedirect)
    : undefined
}

/** Whether a login returned to a router that has been withdrawn since (D-488). Throws NOT_READY. */
export function isWithdrawnRedirect(
  ports: RouterCallbackPorts,
  redirect: VerifiedRedirect,
  allowed: readonly RedirectPattern[],
): boolean {
  return looksLikeRouterCallback(redirect) && verifyRedirect(ports, redirect, allowed) === undefined
}
