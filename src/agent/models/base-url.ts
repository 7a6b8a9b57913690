// Checks the address of a provider before anything is sent to it. What is wrong is said by the name of the place
// that holds the address, never by the address itself: people put keys and passwords into those.

export type CheckedUrl =
  | { readonly ok: true; readonly url: string; readonly isLoopback: boolean }
  | { readonly ok: false; readonly sentence: string };

export function checkBaseUrl(text: string, place: string): CheckedUrl {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return {
      ok: false,
      sentence: `${place} is no web address: write one that begins with http:// or https://.`,
    };
  }
  if (url.username !== '' || url.password !== '') {
    return {
      ok: false,
      sentence: `${place} holds a user name or a password: put the key into an environment variable instead.`,
    };
  }
  if (url.search !== '' || url.hash !== '') {
    return { ok: false, sentence: `${place} must end with the path: leave out everything after ? or #.` };
  }
  return { ok: true, url: url.href.replace(/\/+$/, ''), isLoopback: isLoopback(url.hostname) };
}

/**
 * Adds the version to an address from the environment that has no path. Anthropic's variable is shared with programs
 * that add the version by themselves, so there it may be missing after a path as well.
 */
export function withVersion(url: string, versionPath: string, isShared: boolean): string {
  const { pathname } = new URL(url);
  const lacksVersion = pathname === '/' || (isShared && !/\/v\d+\w*$/.test(pathname));
  return lacksVersion ? `${url}${versionPath}` : url;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
