import { badRequestError } from "../api-error.ts";

interface FieldRequirement {
  /** `metadata.name`, `spec.nodeName`. */
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** Selects objects by fields that their kind offers. All requirements must hold. */
export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
  readonly isEverything: boolean;
  /** `fields` returns a field's value by its name; `""` for a field that is not set. */
  matches(fields: (name: string) => string): boolean;
  /** The text is canonical: it parses to an equal selector. */
  toString(): string;
}

/** Reads a query's `fieldSelector`; empty means everything. Throws BadRequest in upstream's words. */
export function parseFieldSelector(text: string): FieldSelector {
  const terms = splitTerms(text)
    .filter((term) => term !== "")
    .sort();
  const requirements = terms.map((term) => parseTerm(text, term));
  return {
    requirements,
    isEverything: requirements.length === 0,
    matches: (fields) =>
      requirements.every(({ field, operator, value }) => (fields(field) === value) === (operator === "=")),
    toString: () => requirements.map(formatRequirement).join(","),
  };
}

/** Splits the text at the commas that no backslash precedes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === ",") {
      terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...terms, text.slice(start)];
}

/** The field's name cannot be escaped: the first operator ends it. */
function parseTerm(selector: string, term: string): FieldRequirement {
  const [, field, operator, value] = /^(.*?)(!=|==|=)(.*)$/s.exec(term) ?? [];
  if (field === undefined || value === undefined) {
    throw badRequestError(`invalid selector: '${selector}'; can't understand '${term}'`);
  }
  return { field, operator: operator === "!=" ? "!=" : "=", value: unescapeValue(value) };
}

function unescapeValue(text: string): string {
  return text.replaceAll(/\\(.)?|[,=]/gsu, (match, escaped: string | undefined) => {
    if (match === "\\" || (escaped !== undefined && !"\\,=".includes(escaped))) {
      throw badRequestError(`invalid field selector: invalid escape sequence: ${match}`);
    }
    if (escaped !== undefined) return escaped;
    // Upstream prints the character's number.
    throw badRequestError(`invalid field selector: unescaped character in value: ${match.codePointAt(0) ?? 0}`);
  });
}

function formatRequirement({ field, operator, value }: FieldRequirement): string {
  return `${field}${operator}${value.replaceAll(/[\\,=]/g, "\\$&")}`;
}
