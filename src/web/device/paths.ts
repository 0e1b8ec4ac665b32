/** Where users approve devices: RFC 8628 §3.2, D-440. */
export const DEVICE_PATH = '/device'
export const CONFIRM_DEVICE_PATH = `${DEVICE_PATH}/confirm`
export const APPROVE_DEVICE_PATH = `${DEVICE_PATH}/approve`
export const DENY_DEVICE_PATH = `${DEVICE_PATH}/deny`
/** A fresh login, for example as another user. */
export const DEVICE_SIGN_IN_PATH = `${DEVICE_PATH}/sign-in`
export const DEVICE_SIGN_OUT_PATH = `${DEVICE_PATH}/sign-out`

/** RFC 8628 §3.3.1. */
export const USER_CODE_PARAMETER = 'user_code'
