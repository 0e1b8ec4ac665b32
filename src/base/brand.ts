/**
 * Types that prove where a value came from. `Brand<string, 'IdentityId'>` is a string at run time,
 * but a plain string is not accepted in its place.
 */
declare const brand: unique symbol

export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
