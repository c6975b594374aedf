import type { FieldError } from "../field-error.ts";
import type { ServiceReference, WebhookClientConfig } from "../gen/types.ts";
import { checkDnsSubdomain } from "./names.ts";
import { invalid, invalidEach, required } from "./problems.ts";

/** Returns what is wrong with the place of a webhook: exactly one of `url` and `service` tells it. */
export function validateWebhookClient(path: string, { url, service }: WebhookClientConfig): FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(path, "exactly one of url or service is required")];
  }
  return url === undefined ? validateService(`${path}.service`, service) : validateUrl(`${path}.url`, url);
}

const URL_FORM = "; desired format: https://host[/path]";

function validateUrl(path: string, text: string): FieldError[] {
  if (!URL.canParse(text)) return [required(path, `url must be a valid URL: parse ${JSON.stringify(text)}${URL_FORM}`)];
  const url = new URL(text);
  const scheme = url.protocol.slice(0, -1);
  const user = url.password === "" ? url.username : `${url.username}:${url.password}`;
  const errors: FieldError[] = [];
  if (scheme !== "https") errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${URL_FORM}`));
  if (url.host === "") errors.push(invalid(path, url.host, `host must be specified${URL_FORM}`));
  if (user !== "") errors.push(invalid(path, user, "user information is not permitted in the URL"));
  if (url.hash !== "") errors.push(invalid(path, url.hash.slice(1), "fragments are not permitted in the URL"));
  if (url.search !== "") {
    errors.push(invalid(path, url.search.slice(1), "query parameters are not permitted in the URL"));
  }
  return errors;
}

function validateService(at: string, service: ServiceReference | undefined): FieldError[] {
  const { name = "", namespace = "", path = "", port = 443 } = service ?? {};
  return [
    ...(name === "" ? [required(`${at}.name`)] : []),
    ...(namespace === "" ? [required(`${at}.namespace`)] : []),
    ...(port >= 1 && port <= 65_535
      ? []
      : [invalid(`${at}.port`, port, "port is not valid: must be between 1 and 65535, inclusive")]),
    ...validatePath(`${at}.path`, path),
  ];
}

function validatePath(at: string, path: string): FieldError[] {
  if (path === "" || path === "/") return [];
  if (path === "//") return [invalid(at, path, "segment[0] may not be empty")];
  const segments = path.slice(1).replace(/\/$/, "").split("/");
  return [
    ...(path.startsWith("/") ? [] : [invalid(at, path, "must start with a '/'")]),
    ...segments.flatMap((segment, index) => {
      if (segment === "") return [invalid(at, path, `segment[${index}] may not be empty`)];
      const problems = checkDnsSubdomain(segment).map((problem) => `segment[${index}]: ${problem}`);
      return invalidEach(at, path, problems);
    }),
  ];
}
