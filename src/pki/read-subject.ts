import { messageOf } from "../base/errors.ts";
import { DER_TAGS, type DerElement, splitDer, splitElement } from "./der.ts";
import { PkiError } from "./pki-error.ts";

/** The part of a subject that becomes a user: all else in it counts for nothing. */
export interface SubjectIdentity {
  /** Empty where the subject has none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
}

const COMMON_NAME = "550403";
const ORGANIZATION = "55040a";

/**
 * Reads the identity that the subject of a PKCS #10 request asks for, from the bytes of the request.
 *
 * Readers of certificates differ: in the types of text that they know, in what they make of a text that its type does
 * not allow, and in which of several common names they take. This one accepts only what they all read alike. Throws a
 * PkiError `InvalidRequest` for the rest.
 */
export function readRequestSubject(request: Uint8Array): SubjectIdentity {
  let attributes: DerElement[][];
  try {
    attributes = splitSubject(request);
  } catch (error) {
    throw new PkiError("InvalidRequest", `the subject cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const valuesOf = (identifier: string) => attributes.filter(([type]) => hexOf(type) === identifier);
  const commonNames = valuesOf(COMMON_NAME).map(([, value]) => readText("common name", value));
  const organizations = valuesOf(ORGANIZATION).map(([, value]) => readText("organization", value));
  if (commonNames.length > 1) throw new PkiError("InvalidRequest", "the subject has more than one common name");
  return { commonName: commonNames[0] ?? "", organizations };
}

/** The attributes of the subject, each with its type and its value, whether they share a set or not. */
function splitSubject(request: Uint8Array): DerElement[][] {
  const [whole, ...after] = splitDer(request);
  if (after.length > 0) throw new RangeError("bytes follow the request");
  const [content] = splitElement(whole, DER_TAGS.sequence);
  const [version, subject] = splitElement(content, DER_TAGS.sequence);
  if (version?.tag !== DER_TAGS.integer) throw new RangeError("the request has no version");
  return splitElement(subject, DER_TAGS.sequence)
    .flatMap((names) => splitElement(names, DER_TAGS.set))
    .map((attribute) => {
      const parts = splitElement(attribute, DER_TAGS.sequence);
      const [type] = parts;
      if (type?.tag !== DER_TAGS.objectIdentifier || parts.length !== 2) {
        throw new RangeError("an attribute is not a type and a value");
      }
      return parts;
    });
}

const hexOf = (element: DerElement | undefined) => Buffer.from(element?.content ?? []).toString("hex");

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const decodeLatin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

interface TextType {
  readonly decode: (bytes: Uint8Array) => string;
  /** The texts that the type allows. */
  readonly allows: RegExp;
}

/**
 * The types of text by their identifier octets. BMPString, UniversalString and NumericString are not among them: some
 * readers do not know them, and what a NumericString says is a number for one reader and a name for another.
 */
const TEXT_TYPES: ReadonlyMap<number, TextType> = new Map<number, TextType>([
  // UTF8String.
  [0x0c, { decode: (bytes) => utf8.decode(bytes), allows: /^/ }],
  // PrintableString, with the two characters that Go takes beyond the standard.
  [0x13, { decode: decodeLatin1, allows: /^[A-Za-z0-9 '()+,\-./:=?*&]*$/ }],
  // T61String, which all of today's readers take for Latin-1.
  [0x14, { decode: decodeLatin1, allows: /^/ }],
  // IA5String.
  [0x16, { decode: decodeLatin1, allows: /^[\x20-\x7e]*$/ }],
]);

function readText(what: string, value: DerElement | undefined): string {
  const type = TEXT_TYPES.get(value?.tag ?? 0);
  if (type === undefined || value === undefined) {
    const allowed = "UTF8String, PrintableString, IA5String and T61String";
    throw new PkiError(
      "InvalidRequest",
      `the ${what} of the subject is of a type that is not allowed (${allowed} are)`,
    );
  }
  const text = decodeText(type, value.content);
  if (text === undefined || !type.allows.test(text)) {
    throw new PkiError("InvalidRequest", `the ${what} of the subject has bytes that its type does not allow`);
  }
  if (CONTROL.test(text)) throw new PkiError("InvalidRequest", `the ${what} of the subject has a control character`);
  return text;
}

/** A zero byte ends the text for some readers, and the others are good for nothing in a name. */
const CONTROL = /\p{Cc}/u;

function decodeText({ decode }: TextType, bytes: Uint8Array): string | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}
