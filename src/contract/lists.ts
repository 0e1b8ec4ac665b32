/** API 2: how many rows a list answers with at most. A larger `limit` is lowered to it. */
export const LARGEST_PAGE = 500
