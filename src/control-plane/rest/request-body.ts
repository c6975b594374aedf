import { ApiError, badRequestError } from "../../api/api-error.ts";
import { decodeProtobuf } from "../../api/protobuf/decode-protobuf.ts";
import { parseStrictJson } from "../../api/strict-json.ts";
import { parseSentYaml } from "../../api/yaml.ts";
import { codeOf } from "../../base/errors.ts";
import type { ServedRequest } from "../../host/http-server.ts";

/** Upstream's limit for the body of a write: 3 MiB. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** A body, parsed but not yet decoded as any kind. */
interface ParsedBody {
  /** Undefined for an empty body. */
  readonly value: unknown;
  /** Duplicate keys, in strict decoding's words: `duplicate field "spec.a"`. */
  readonly duplicates: readonly string[];
}

/** What surrounds the work on a body, which may be long. */
interface BodyWork {
  /** Lets the event loop serve other requests. */
  pause(): Promise<void>;
  noteRequest(request: ServedRequest): void;
}

/** The media type without its parameters, in lower case. */
export function contentTypeOf(request: ServedRequest): string {
  return (request.header("content-type")[0] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/**
 * Reads and parses the body by its content type, with pauses in long work. Throws UnsupportedMediaType,
 * RequestEntityTooLarge, BadRequest.
 */
export async function readParsedBody(
  request: ServedRequest,
  type: BodySyntax,
  { pause, noteRequest }: BodyWork,
): Promise<ParsedBody> {
  const bytes = await readBytes(request);
  noteRequest(request);
  if (bytes.length === 0) return { value: undefined, duplicates: [] };
  if (type === "protobuf") return { value: decodeProtobuf(bytes), duplicates: [] };
  return type === "yaml" ? await parseYamlBody(bytes, pause) : parseStrictJson(bytes.toString());
}

/** The syntax that a content type stands for. */
type BodySyntax = "json" | "yaml" | "protobuf";

/** The syntax of a body that holds objects. */
export function syntaxOf(contentType: string): BodySyntax {
  if (contentType === "" || contentType === "application/json" || contentType === "*/*") return "json";
  if (contentType === "application/yaml") return "yaml";
  if (contentType === "application/vnd.kubernetes.protobuf") return "protobuf";
  const message =
    "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf";
  throw new ApiError("UnsupportedMediaType", message);
}

async function readBytes(request: ServedRequest): Promise<Buffer> {
  try {
    return await request.readBody(MAX_BODY_BYTES);
  } catch (error) {
    const code = codeOf(error);
    if (code === "body-in-pieces") throw badRequestError("the body of the request comes in too many small pieces");
    if (code !== "body-too-large") throw badRequestError("the body of the request could not be read");
    throw new ApiError("RequestEntityTooLarge", `Request entity too large: limit is ${MAX_BODY_BYTES}`);
  }
}

/** The limit for YAML is lower: reading it takes a hundred times as long as reading JSON. */
const MAX_YAML_BYTES = 1024 * 1024;

/** Reads one document; duplicate keys are among its warnings. JSON, which kubectl sends, is read as JSON. */
async function parseYamlBody(bytes: Buffer, pause: BodyWork["pause"]): Promise<ParsedBody> {
  const text = bytes.toString();
  if (text.startsWith("{")) {
    try {
      return parseStrictJson(text);
    } catch {
      // This is YAML in flow style, or a mistake that YAML's reader describes better.
    }
  }
  if (bytes.length > MAX_YAML_BYTES) {
    const message = `Request entity too large: limit is ${MAX_YAML_BYTES} in YAML, more as JSON`;
    throw new ApiError("RequestEntityTooLarge", message);
  }
  const [document, second] = await parseSentYaml(text, pause);
  if (document === undefined) return { value: undefined, duplicates: [] };
  if (second !== undefined) throw badRequestError("the body of the request holds more than one YAML document");
  if (document.errors.length > 0) {
    throw badRequestError(`the body of the request is not valid YAML: ${document.errors.join("; ")}`);
  }
  return { value: document.value, duplicates: document.warnings };
}
