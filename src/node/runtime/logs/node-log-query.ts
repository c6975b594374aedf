import { RE2JS } from "re2js";
import { messageOf } from "../../../base/errors.ts";
import { isBefore, parseLogTime } from "./log-time.ts";

/** A request to `/logs/?query=`, for the logs of services or for one file. */
export interface NodeLogQuery {
  readonly services: readonly string[];
  readonly files: readonly string[];
  readonly options: NodeLogOptions;
}

/** Options that only the journal supports. Times are in RFC 3339, as the client wrote them. */
export interface NodeLogOptions {
  readonly sinceTime?: string;
  readonly untilTime?: string;
  readonly tailLines?: number;
  /** 0 is this boot, -1 the one before. */
  readonly boot?: number;
  readonly pattern?: string;
}

type ReadNodeLogQuery =
  /** The request has no query; its path names a file. */
  | { readonly kind: "none" }
  | { readonly kind: "query"; readonly query: NodeLogQuery }
  | { readonly kind: "refused"; readonly status: 400 | 406; readonly message: string };

const MAX_TAIL_LINES = 100_000;
const MAX_SERVICES = 4;
const MAX_SERVICE_LENGTH = 256;
const UNSAFE = /[^a-zA-Z\-_.:0-9@]/;
const HIGHEST_INT = 2n ** 63n - 1n;

/** Reads and validates, in upstream's words (pkg/kubelet/kubelet_server_journal.go: newNodeLogQuery, validate). */
export function readNodeLogQuery(parameters: URLSearchParams): ReadNodeLogQuery {
  const asked = parameters.getAll("query");
  const files = asked.filter((one) => /[/\\]/.test(one));
  const services = asked.filter((one) => !/[/\\]/.test(one) && one.trim() !== "");
  const problems: string[] = [];
  if (asked.length > 0 && files.length + services.length === 0) {
    problems.push(invalid("query", asked, "query cannot be empty"));
  }
  const options = readOptions(parameters, problems);
  if (problems.length > 0) return { kind: "refused", status: 400, message: aggregate(problems) };
  const query = { services, files, options };
  if (files.length + services.length === 0 && Object.keys(options).length === 0) return { kind: "none" };
  problems.push(...validateSubject(query), ...validateOptions(options));
  if (problems.length > 0) return { kind: "refused", status: 406, message: aggregate(problems) };
  return { kind: "query", query };
}

function readOptions(parameters: URLSearchParams, problems: string[]): NodeLogOptions {
  const time = (name: string) => {
    const text = parameters.get(name) || undefined;
    if (text !== undefined && parseLogTime(text) === undefined) {
      problems.push(invalid(name, text, "invalid time format"));
    }
    return text;
  };
  const integer = (name: string) => {
    const text = parameters.get(name) || undefined;
    const problem = text === undefined ? undefined : integerProblem(text);
    if (problem !== undefined) problems.push(invalid(name, text, problem));
    return text === undefined ? undefined : Number(text);
  };
  const [sinceTime, untilTime] = [time("sinceTime"), time("untilTime")];
  const [boot, tailLines] = [integer("boot"), integer("tailLines")];
  const pattern = parameters.get("pattern") || undefined;
  return {
    ...(sinceTime !== undefined && { sinceTime }),
    ...(untilTime !== undefined && { untilTime }),
    ...(tailLines !== undefined && { tailLines }),
    ...(boot !== undefined && { boot }),
    ...(pattern !== undefined && { pattern }),
  };
}

/** What is wrong with an integer, in the words of Go's strconv. */
function integerProblem(text: string): string | undefined {
  const parsing = `strconv.Atoi: parsing ${JSON.stringify(text)}`;
  if (!/^[+-]?\d{1,400}$/.test(text)) return `${parsing}: invalid syntax`;
  const value = BigInt(text.replace("+", ""));
  return value > HIGHEST_INT || value < -HIGHEST_INT - 1n ? `${parsing}: value out of range` : undefined;
}

function validateSubject({ services, files, options }: NodeLogQuery): string[] {
  const problems = services.flatMap((service) => {
    const problem = serviceProblem(service);
    return problem === undefined ? [] : [invalid("query", service, problem)];
  });
  if (services.length > MAX_SERVICES) {
    problems.push(`query: Too many: ${services.length}: must have at most ${MAX_SERVICES} items`);
  }
  const hasOptions = Object.keys(options).length > 0;
  if (files.length + services.length === 0) problems.push("query: Required value: cannot be empty with options");
  else if (files.length > 0 && services.length > 0) {
    const both = `[${files.join(" ")}], [${services.join(" ")}]`;
    problems.push(invalid("query", both, "cannot specify a file and service"));
  } else if (files.length > 1) problems.push(invalid("query", files, "cannot specify more than one file"));
  else if (files.length === 1 && hasOptions) {
    problems.push(invalid("query", files, "cannot specify file with options"));
  }
  return problems;
}

function serviceProblem(service: string): string | undefined {
  if (service.length > MAX_SERVICE_LENGTH) return `length must be less than ${MAX_SERVICE_LENGTH}`;
  return UNSAFE.test(service) ? "input contains unsupported characters" : undefined;
}

function validateOptions({ sinceTime, untilTime, boot, tailLines, pattern }: NodeLogOptions): string[] {
  const problems: string[] = [];
  const [since, until] = [sinceTime, untilTime].map((text) => (text === undefined ? undefined : parseLogTime(text)));
  if (since !== undefined && until !== undefined && isBefore(until, since)) {
    problems.push(invalid("untilTime", untilTime, "must be after `sinceTime`"));
  }
  if (boot !== undefined && boot > 0) problems.push(invalid("boot", boot, "must be less than 1"));
  if (tailLines !== undefined && (tailLines < 0 || tailLines > MAX_TAIL_LINES)) {
    problems.push(invalid("tailLines", tailLines, `must be between 0 and ${MAX_TAIL_LINES}, inclusive`));
  }
  const problem = pattern === undefined ? undefined : patternProblem(pattern);
  if (problem !== undefined) problems.push(invalid("pattern", pattern, problem));
  return problems;
}

/** What is wrong with a pattern by Go's rules, as upstream checks it, although the journal matches by other rules. */
function patternProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function invalid(field: string, value: unknown, why: string): string {
  return `${field}: Invalid value: ${JSON.stringify(value)}: ${why}`;
}

function aggregate(problems: readonly string[]): string {
  const different = [...new Set(problems)];
  return different.length === 1 ? different.join() : `[${different.join(", ")}]`;
}
