const DNS_1035_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** What is wrong with it as the name of a version, plural, kind, …: a DNS label that starts with a letter. */
export function checkDns1035Label(text: string): string[] {
  const problems = text.length > 63 ? ["must be no more than 63 characters"] : [];
  if (DNS_1035_LABEL.test(text)) return problems;
  const rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  const examples = "(e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
  return [...problems, `${rule} ${examples}`];
}
