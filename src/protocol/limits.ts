/**
 * How long a text may be, where several folders must agree: the APIs refuse what is longer, and the service itself makes
 * nothing longer.
 */

/** API 1: names, usernames, external ids, and the claim that names an identity. */
export const LONGEST_NAME = 256

/** API 4.2: what a login reads, so that hashing stays cheap. A new password must be shorter. */
export const LONGEST_PASSWORD = 1024

/** More than a certificate with the CAs above it. */
export const LONGEST_PEM = 64 * 1024

/** Where a router's feed goes on. */
export const LONGEST_CURSOR = 64
