/* global oidc -- the library, from the script before this one */
// A browser application as people write them: everything about OpenID Connect is left to the library.

const { authority, api } = document.body.dataset
const manager = new oidc.UserManager({
  authority,
  client_id: 'service',
  redirect_uri: `${location.origin}/callback`,
  post_logout_redirect_uri: `${location.origin}/goodbye`,
  scope: 'openid profile offline_access',
  loadUserInfo: true,
  automaticSilentRenew: false,
})

const byId = (id) => document.getElementById(id)

async function show() {
  const user = await manager.getUser()
  byId('user').textContent = user === null ? '' : user.toStorageString()
  byId('state').textContent = user === null ? 'nobody' : user.profile.preferred_username
}

async function callApi() {
  const user = await manager.getUser()
  const headers = { authorization: `Bearer ${user?.access_token}` }
  const answer = await fetch(`${api}/edge/client/v1/current-identity`, { headers })
  const { data } = await answer.json()
  const expiresAt = answer.headers.get('expires-at')
  byId('answer').textContent = JSON.stringify({
    status: answer.status,
    name: data?.name,
    expiresAt,
  })
}

const actions = {
  'sign-in': () => manager.signinRedirect({ state: 'where I was' }),
  refresh: () => manager.signinSilent(),
  call: callApi,
  'sign-out': () => manager.signoutRedirect({ state: 'leaving' }),
}

const arrivals = {
  '/callback': () => manager.signinCallback(),
  '/goodbye': () => manager.signoutCallback(),
}

async function attempt(action) {
  byId('state').textContent = ''
  try {
    await action?.()
  } catch (error) {
    byId('error').textContent = String(error)
  }
  await show()
}

for (const [id, action] of Object.entries(actions)) {
  byId(id).addEventListener('click', () => attempt(action))
}
void attempt(arrivals[location.pathname])
