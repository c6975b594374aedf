import { describe, expect, it } from "vitest";
import { compileExpression } from "../program.ts";
import type { CelType } from "../types.ts";

/** The outcomes of expressions, as upstream's own tests of its library have them (`pkg/cel/library/*_test.go`). */
function outcomeOf(text: string): unknown {
  const program = compileExpression(text, new Map<string, CelType>());
  if ("problem" in program) return program.problem;
  const result = program.evaluate(() => undefined);
  if ("problem" in result) return result.problem;
  return result.outcome === "value" ? result.value : result.message;
}

const NO_HOST = "parse error during conversion from string: parse";

describe("url", () => {
  it.each([
    "url('/path').getScheme() == ''",
    "url('https://example.com:80/').getHost() == 'example.com:80'",
    "url('https://[::1]:80/').getHost() == '[::1]:80'",
    "url('https://[::1]/').getHost() == '[::1]'",
    "url('/path').getHost() == '' && url('/path').getHostname() == '' && url('/path').getPort() == ''",
    "url('https://127.0.0.1/').getHostname() == '127.0.0.1'",
    "url('https://[::1]/').getHostname() == '::1'",
    "url('https://example.com:80/').getPort() == '80' && url('https://example.com/').getPort() == ''",
    "url('https://example.com/with space/').getEscapedPath() == '/with%20space/'",
    "url('https://example.com/a%2Fb%20c').getEscapedPath() == '/a%2Fb%20c'",
    "url('https://example.com/ü\"').getEscapedPath() == '/%C3%BC%22'",
    "url('https://example.com').getEscapedPath() == ''",
    "url('https://example.com/path?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
    "url('https://example.com/path?key with spaces=value with spaces').getQuery() == {'key with spaces': ['value with spaces']}",
    "url('https://example.com/path?').getQuery() == {} && url('https://example.com/path').getQuery() == {}",
    "url('/a?b=%zz&c;d=1&e=1+2&f#g').getQuery() == {'e': ['1 2'], 'f': ['']}",
    "url('https:://kubernetes.io/').getHostname() != 'test'",
    "url('HTTPS://a/b') == url('https://a/b')",
    "url('mailto:somebody@example.com').getScheme() == 'mailto'",
    "url('https://h%C3%BC/').getHostname() == 'hü'",
    "url('https://[fe80::1%25en0]:8/').getHostname() == 'fe80::1%en0'",
    "isURL('https://user:pass@example.com:80/path?query=val#fragment')",
    "isURL('/path') && isURL('/path with space') && isURL('*') && isURL('http:///x') && isURL('//a b/')",
    "!isURL('https://a:b:c/') && !isURL('../relative-path') && !isURL('') && !isURL('http://a b/')",
    "!isURL('http://[::1') && !isURL('http://[::1]x/') && !isURL('http://x[::1]/') && !isURL('http://[1.2.3.4]/')",
    "!isURL('/%zz') && !isURL('http://a%20b/') && !isURL('a\\nb') && !isURL(':x') && !isURL('1http://a')",
    "!isURL('http://us er@a/') && !isURL('http://localhost:80:80/') && !isURL('http://a:8x/')",
  ])("%s", (text) => {
    expect(outcomeOf(text)).toBe(true);
  });

  it.each([
    ["url('../x')", `URL ${NO_HOST} "../x": invalid URI for request`],
    ["url('')", `URL ${NO_HOST} "": empty url`],
    ["url('http://a b/')", `URL ${NO_HOST} "http://a b/": invalid character " " in host name`],
    ["url('https://a:b:c/')", `URL ${NO_HOST} "https://a:b:c/": invalid port ":b:c" after host`],
    ["url('/a%zz')", `URL ${NO_HOST} "/a%zz": invalid URL escape "%zz"`],
    ["url('//a b/')", `URL ${NO_HOST} "//a b/": invalid character " " in host name`],
    ["url(':x')", `URL ${NO_HOST} ":x": missing protocol scheme`],
  ])("%s fails", (text, message) => {
    expect(outcomeOf(text)).toBe(message);
  });
});

describe("ip and cidr", () => {
  it.each([
    "isIP('192.168.0.1') && !isIP('192.168.0.1.0') && isIP('2001:db8::68') && !isIP('2001:db8:::68')",
    "ip.isCanonical('127.0.0.1') && ip.isCanonical('2001:db8::68') && !ip.isCanonical('2001:DB8::68')",
    "ip('192.168.0.1').family() == 4 && ip('2001:db8::68').family() == 6",
    "ip('0.0.0.0').isUnspecified() && !ip('127.0.0.1').isUnspecified() && ip('::').isUnspecified()",
    "ip('127.0.0.1').isLoopback() && !ip('1.2.3.4').isLoopback() && ip('::1').isLoopback()",
    "ip('224.0.0.1').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast()",
    "ip('ff02::1').isLinkLocalMulticast() && !ip('fd00::1').isLinkLocalMulticast()",
    "ip('169.254.169.254').isLinkLocalUnicast() && !ip('192.168.0.1').isLinkLocalUnicast()",
    "ip('fe80::1').isLinkLocalUnicast() && !ip('fd80::1').isLinkLocalUnicast()",
    "ip('192.168.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()",
    "ip('2001:db8::abcd').isGlobalUnicast() && !ip('ff00::1').isGlobalUnicast()",
    "type(ip('192.168.0.1')) == net.IP && type(cidr('192.168.0.0/24')) == net.CIDR",
    "string(ip('64:ff9b::1.2.3.4')) == '64:ff9b::102:304' && !isIP('::ffff:1.2.3.4') && !isIP('::ffff:0102:0304')",
    "!isIP('fe80::1%en0') && !isIP('1.2.3.04') && !isIP(' 1.2.3.4') && !isIP('1.2.3')",
    "cidr('192.168.0.0/24').containsIP(ip('192.168.0.1')) && !cidr('192.168.0.0/24').containsIP('192.168.1.1')",
    "cidr('192.168.0.0/24').containsCIDR(cidr('192.168.0.0/25')) && cidr('192.168.0.0/24').containsCIDR('192.168.0.1/32')",
    "!cidr('192.168.0.0/24').containsCIDR('192.168.0.0/23') && !cidr('192.168.0.0/24').containsCIDR('192.169.0.1/32')",
    "cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24') && cidr('192.168.0.0/24').prefixLength() == 24",
    "cidr('192.168.0.1/24').ip() == ip('192.168.0.1') && string(cidr('192.168.0.0/24')) == '192.168.0.0/24'",
    "cidr('2001:db8::/32').containsIP('2001:db8::1') && !cidr('2001:db8::/32').containsIP('2001:dc8::1')",
    "cidr('2001:db8::/32').containsCIDR('2001:db8::/33') && !cidr('2001:db8::/32').containsCIDR('2001:db8::/31')",
    "cidr('2001:db8:1::/32').masked() == cidr('2001:db8::/32')",
    "!isCIDR('192.168.0.0/') && !isCIDR('10.0.0.0/08') && !isCIDR('10.0.0.0/33') && !isCIDR('::ffff:1.2.3.4/96')",
  ])("%s", (text) => {
    expect(outcomeOf(text)).toBe(true);
  });

  const noAddress = (text: string, why: string) =>
    `IP Address "${text}" parse error during conversion from string: ParseAddr("${text}"): ${why}`;
  const noBlock = (text: string, why: string) =>
    `network address parse error during conversion from string: netip.ParsePrefix("${text}"): ${why}`;

  it.each([
    ["ip('192.168.0.1.0')", noAddress("192.168.0.1.0", "IPv4 address too long")],
    ["ip.isCanonical('127.0.0.1.0')", noAddress("127.0.0.1.0", "IPv4 address too long")],
    [
      "ip('2001:db8:::68')",
      noAddress("2001:db8:::68", 'each colon-separated field must have at least one digit (at ":68")'),
    ],
    ["ip('1.2.3')", noAddress("1.2.3", "IPv4 address too short")],
    ["ip('1.2.3.256')", noAddress("1.2.3.256", "IPv4 field has value >255")],
    ["ip('host')", noAddress("host", "unable to parse IP")],
    ["ip('fe80::1%en0')", 'IP address "fe80::1%en0" with zone value is not allowed'],
    ["ip('::ffff:1.2.3.4')", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
    ["cidr('192.168.0.0/')", noBlock("192.168.0.0/", 'bad bits after slash: ""')],
    ["cidr('2001:db8::/')", noBlock("2001:db8::/", 'bad bits after slash: ""')],
    ["cidr('10.0.0.0/33')", noBlock("10.0.0.0/33", "prefix length out of range")],
    ["cidr('10.0.0.0')", noBlock("10.0.0.0", "no '/'")],
  ])("%s fails", (text, message) => {
    expect(outcomeOf(text)).toBe(message);
  });
});

describe("quantity", () => {
  it.each([
    "isQuantity('20') && isQuantity('20M') && isQuantity('20Mi') && !isQuantity('20Mo') && !isQuantity('10Mm')",
    "quantity('200M') == quantity('0.2G') && quantity('2000k') == quantity('2M') && quantity('200M') != quantity('0.3G')",
    "quantity('50M').isLessThan(quantity('50Mi')) && quantity('50Mi').isGreaterThan(quantity('50M'))",
    "quantity('200M').compareTo(quantity('0.2G')) == 0 && quantity('50M').compareTo(quantity('50Mi')) == -1",
    "quantity('50k').add(quantity('20')) == quantity('50.02k') && !quantity('50k').add(20).isLessThan(quantity('50020'))",
    "quantity('50k').sub(quantity('20')) == quantity('49.98k') && quantity('50k').sub(20) == quantity('49980')",
    "quantity('50k').add(20).sub(quantity('100k')).sub(-50000).asInteger() == 20",
    "!quantity('9999999999999999999999999999999999999G').isInteger() && quantity('50').isInteger()",
    "quantity('50.703k').asApproximateFloat() == 50703.0",
  ])("%s", (text) => {
    expect(outcomeOf(text)).toBe(true);
  });

  it.each([
    ["quantity('10Mo')", expect.stringContaining("quantities must match the regular expression")],
    ["quantity('10Mm')", "unable to parse quantity's suffix"],
    ["quantity('9999999999999999999999999999999999999G').asInteger()", "cannot convert value to integer"],
    ["isQuantity([1, 2, 3])", expect.stringContaining("found no matching overload for 'isQuantity' applied to")],
  ])("%s fails", (text, message) => {
    expect(outcomeOf(text)).toEqual(message);
  });
});

describe("semver", () => {
  it.each([
    "isSemver('1.2.3-beta.1+build.1') && !isSemver('') && !isSemver('v1.0.0') && !isSemver('01.01.01')",
    "!isSemver(' 1.0.0') && !isSemver('1. 0.0') && !isSemver('1.0.0 ') && !isSemver('1') && !isSemver('1.1')",
    "!isSemver('', true) && !isSemver(' 1.0.0', true) && !isSemver('1. 0.0', true) && !isSemver('1.0.0 ', true)",
    "isSemver('v1.0.0', true) && isSemver('01.01.01', true) && isSemver('1', true) && isSemver('1.1', true)",
    "!isSemver('1-rc', true) && !isSemver('1.1+b', true) && !isSemver('1.2.3.4', true) && isSemver('1.2.03-rc.1', true)",
    "semver('v01.01', true) == semver('1.1.0') && semver('00.0.0', true) == semver('0.0.0')",
    "semver('1.0.0').isLessThan(semver('1.2.3')) && !semver('1.0.0').isLessThan(semver('1.0.0'))",
    "semver('1.2.3').compareTo(semver('1.0.0')) == 1 && semver('1.0.0').compareTo(semver('1.2.3')) == -1",
    "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
    "semver('1.0.0-alpha.2').isLessThan(semver('1.0.0-alpha.10')) && semver('1.0.0-1').isLessThan(semver('1.0.0-a'))",
  ])("%s", (text) => {
    expect(outcomeOf(text)).toBe(true);
  });
});

describe("regular expressions, lists and formats", () => {
  it.each([
    "'123 abc 456'.find('[0-9]*') == '123' && 'xyz'.find('[0-9]+') == ''",
    "'123 abc 456'.findAll('[0-9]+') == ['123', '456'] && '123 abc 456'.findAll('[0-9]+', 0) == []",
    "'123 abc 456'.findAll('[0-9]+', 1) == ['123'] && '123 abc 456'.findAll('[0-9]+', 3) == ['123', '456']",
    "'123 abc 456'.findAll('[0-9]+', -1) == ['123', '456'] && '123'.findAll('xyz') == []",
    "[1, 2, 3].isSorted() && ![2, 1].isSorted() && [1, 2].sum() == 3 && [1, 3, 2].max() == 3 && [2, 1].min() == 1",
    "[1.0, 2.0].sum() == 3.0 && [duration('1s'), duration('2s')].sum() == duration('3s')",
    "['a', 'b', 'a'].indexOf('a') == 0 && ['a', 'b', 'a'].lastIndexOf('a') == 2 && ['a'].indexOf('x') == -1",
    "sets.contains([1, 2, 3], [1, 1]) && sets.equivalent([1, 1], [1]) && !sets.intersects([], [1])",
    "!format.dns1123Label().validate('my-label-name').hasValue() && !format.qualifiedName().validate('apiextensions.k8s.io/v1beta1').hasValue()",
    "!format.dns1123LabelPrefix().validate('my-label-prefix-').hasValue() && !format.dns1123SubdomainPrefix().validate('mysubdomain.prefix.-').hasValue()",
    "!format.uri().validate('http://example.com').hasValue() && !format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
    "!format.byte().validate('aGVsbG8=').hasValue() && format.byte().validate('aGVsbG8').value() == ['invalid base64']",
    "!format.date().validate('2021-01-01').hasValue() && format.date().validate('2020-01-32').value() == ['invalid date']",
    "format.datetime().validate('2020-01-32T00:00:00Z').value() == ['invalid datetime']",
    "format.dns1035Label().validate('contains a space').value()[0].startsWith('a DNS-1035 label must consist of')",
    "format.labelValue().validate('x!!').value().size() == 1 && !format.named('unknown').hasValue()",
    "format.named('dns1123Label').value() == format.dns1123Label()",
  ])("%s", (text) => {
    expect(outcomeOf(text)).toBe(true);
  });

  it.each([
    ["[].max()", "max called on empty list"],
    ["[].min()", "min called on empty list"],
  ])("%s fails", (text, message) => {
    expect(outcomeOf(text)).toBe(message);
  });
});
