/** A use case with its ports filled in, for callers that do not take ports yet. */
export type Bound<F> = F extends (ports: never, ...rest: infer Rest) => infer Result
  ? (...rest: Rest) => Result
  : never
