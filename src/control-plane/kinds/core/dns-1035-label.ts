const MAX_BYTES = 63;
const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Names of services, which become names of environment variables: what is wrong with it; empty when nothing is. */
export function checkDns1035Label(text: string): string[] {
  const isLong = Buffer.byteLength(text) > MAX_BYTES;
  return [...(isLong ? [`must be no more than ${MAX_BYTES} bytes`] : []), ...(LABEL.test(text) ? [] : [RULE])];
}
