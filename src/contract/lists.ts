/** API 2: the most rows that a list returns. A larger `limit` is lowered to it. */
export const LARGEST_PAGE = 500
