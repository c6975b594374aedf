import { generateKeyPairSync, sign } from "node:crypto";
import { type DerElement, splitDer } from "../der.ts";

/** One attribute of a subject: its type as the bytes of an object identifier, and a value of any type and any bytes. */
export interface ForgedAttribute {
  readonly type: Uint8Array;
  readonly tag: number;
  readonly value: Uint8Array;
}

/** Types of attributes, as the content of object identifiers. */
export const ATTRIBUTES = {
  commonName: Buffer.from("550403", "hex"),
  organization: Buffer.from("55040a", "hex"),
  organizationalUnit: Buffer.from("55040b", "hex"),
  /** The organization's identifier with a zero in front of its last part, which is not the shortest form. */
  longOrganization: Buffer.from("5504800a", "hex"),
  /** The user's UID, which newer API servers read (`AllowParsingUserUIDFromCertAuth`). */
  userUid: Buffer.from("2b0601040183c22d02", "hex"),
} as const;

/** The identifier octets of the types of text. */
export const TEXT_TAGS = {
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  videotexString: 0x15,
  ia5String: 0x16,
  graphicString: 0x19,
  visibleString: 0x1a,
  generalString: 0x1b,
  universalString: 0x1c,
  bmpString: 0x1e,
} as const;

/** A shorthand for the attributes that tests forge most. */
export function forgedAttribute(
  type: keyof typeof ATTRIBUTES,
  value: string | Uint8Array,
  tag: keyof typeof TEXT_TAGS = "utf8String",
): ForgedAttribute {
  return { type: ATTRIBUTES[type], tag: TEXT_TAGS[tag], value: Buffer.from(value) };
}

const KEYS = generateKeyPairSync("ec", { namedCurve: "P-256" });
const PUBLIC_KEY = KEYS.publicKey.export({ format: "der", type: "spki" });
/** ecdsa-with-SHA256. */
const ALGORITHM = element(0x30, element(0x06, Buffer.from("2a8648ce3d040302", "hex")));

/** A request that its key has signed, with any subject, well formed or not: the attributes of each set belong together. */
export function forgeRequest(subject: ReadonlyArray<readonly ForgedAttribute[]>): string {
  const attributeOf = ({ type, tag, value }: ForgedAttribute) => {
    return element(0x30, element(0x06, type), element(tag, value));
  };
  const name = element(0x30, ...subject.map((set) => element(0x31, ...set.map(attributeOf))));
  const content = element(0x30, element(0x02, Buffer.of(0)), name, PUBLIC_KEY, element(0xa0));
  const signature = sign("sha256", content, KEYS.privateKey);
  const request = element(0x30, content, ALGORITHM, element(0x03, Buffer.of(0), signature));
  return `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
}

function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  if (content.length < 0x80) return Buffer.concat([Buffer.of(tag, content.length), content]);
  const length = Buffer.from(content.length.toString(16).padStart(6, "0"), "hex");
  const shortest = length.subarray(length.findIndex((octet) => octet !== 0));
  return Buffer.concat([Buffer.of(tag, 0x80 | shortest.length), shortest, content]);
}

/**
 * The identity that a Go program reads of a certificate: the last common name, and all organizations
 * (`FillFromRDNSequence` of crypto/x509/pkix). Undefined where Go refuses the certificate for a text in its subject.
 */
export function readAsGo(certificate: Uint8Array): { commonName: string; organizations: string[] } | undefined {
  const [content] = splitDer(splitDer(certificate)[0]?.content ?? Buffer.of());
  const subject = splitDer(content?.content ?? Buffer.of())[5];
  let commonName = "";
  const organizations: string[] = [];
  for (const set of splitDer(subject?.content ?? Buffer.of())) {
    for (const attribute of splitDer(set.content)) {
      const [type, value] = splitDer(attribute.content);
      const text = value && goText(value);
      if (text === undefined) return undefined;
      const identifier = Buffer.from(type?.content ?? []);
      if (identifier.equals(ATTRIBUTES.commonName)) commonName = text;
      if (identifier.equals(ATTRIBUTES.organization)) organizations.push(text);
    }
  }
  return { commonName, organizations };
}

/** `parseASN1String` of crypto/x509, for the types that can be in a certificate of ours. */
function goText({ tag, content }: DerElement): string | undefined {
  const text = Buffer.from(content).toString("latin1");
  if (tag === TEXT_TAGS.t61String) return text;
  if (tag === TEXT_TAGS.printableString) return /^[A-Za-z0-9'()*+,\-./:=? &]*$/.test(text) ? text : undefined;
  if (tag === TEXT_TAGS.ia5String) return /^[\0-\x7f]*$/.test(text) ? text : undefined;
  if (tag !== TEXT_TAGS.utf8String) return undefined;
  const decoded = Buffer.from(content).toString("utf8");
  return Buffer.from(decoded).equals(content) ? decoded : undefined;
}
