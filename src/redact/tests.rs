//! Secrets that are obviously made up but follow the forms, look-alikes that stay, and laws.

use super::*;
use proptest::prelude::*;
use rstest::rstest;

/// A body that looks made by chance.
const BODY: &str = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4";

fn body(length: usize) -> &'static str {
    &BODY[..length]
}

fn hex(length: usize) -> String {
    "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
        .chars()
        .cycle()
        .take(length)
        .collect()
}

/// Each in the form of its service, with what is found.
fn secrets() -> Vec<(String, Secret)> {
    use Secret::{AccessToken, ApiKey, Other, Password, PrivateKey};
    let word = |prefix: &str, length: usize| format!("{prefix}{}", body(length));
    vec![
        (word("sk-", 48), ApiKey),
        (format!("sk-{}", hex(32)), ApiKey),
        (word("sk-proj-", 60), ApiKey),
        (word("sk-ant-api03-", 60), ApiKey),
        (word("ghp_", 36), AccessToken),
        (word("gho_", 36), AccessToken),
        (word("ghu_", 36), AccessToken),
        (word("ghs_", 36), AccessToken),
        (word("ghr_", 36), AccessToken),
        (format!("github_pat_{}_{}", body(22), body(59)), AccessToken),
        (word("glpat-", 20), AccessToken),
        ("AKIAQ3EGRZ7T2M5XK9WB".to_owned(), ApiKey),
        ("ASIAQ3EGRZ7T2M5XK9WB".to_owned(), ApiKey),
        (word("AIzaSy", 33), ApiKey),
        (format!("xoxb-123456789012-{}", body(24)), AccessToken),
        (word("sk_live_", 24), ApiKey),
        (word("rk_live_", 24), ApiKey),
        (word("pk_live_", 24), ApiKey),
        (word("npm_", 36), AccessToken),
        (word("pypi-AgEIcHlwaS5vcmc", 60), AccessToken),
        (word("hf_", 34), AccessToken),
        (format!("SG.{}.{}", body(22), body(43)), ApiKey),
        (format!("SK{}", hex(32)), ApiKey),
        (format!("8123456789:AA{}", body(33)), AccessToken),
        (format!("MTA{}.GaBcDe.{}", body(21), body(38)), AccessToken),
        (format!("dop_v1_{}", hex(64)), AccessToken),
        (format!("shpat_{}", hex(32)), AccessToken),
        (format!("dapi{}", hex(32)), AccessToken),
        (word("lin_api_", 40), ApiKey),
        (word("secret_", 43), ApiKey),
        (word("ntn_", 46), ApiKey),
        (word("hvs.CAESI", 60), AccessToken),
        (
            format!("AGE-SECRET-KEY-1{}", body(58).to_uppercase()),
            PrivateKey,
        ),
        (
            format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{}", body(43)),
            AccessToken,
        ),
        ("4111 1111 1111 1111".to_owned(), Secret::CardNumber),
        ("5555-5555-5555-4444".to_owned(), Secret::CardNumber),
        ("378282246310005".to_owned(), Secret::CardNumber),
        (
            "DE89 3704 0044 0532 0130 00".to_owned(),
            Secret::BankAccount,
        ),
        ("GB82WEST12345698765432".to_owned(), Secret::BankAccount),
        (word("whsec_", 32), Other),
        (word("nvapi-", 64), ApiKey),
        (word("tvly-dev-", 32), ApiKey),
        (format!("fc-{}", hex(32)), ApiKey),
        (word("re_AbCd1234_", 24), ApiKey),
        (format!("dp.st.dev.{}", body(40)), AccessToken),
        (format!("sk.eyJ1Ijoi{}.{}", body(40), body(22)), AccessToken),
        (word("ATCTT3xFfGN0", 60), AccessToken),
        (word("pscale_pw_", 43), Password),
    ]
}

#[test]
fn every_secret_is_replaced_wherever_it_stands() {
    for (secret, kind) in secrets() {
        for (before, after) in [
            ("", ""),
            ("use ", " from now on"),
            ("`", "`"),
            ("(", ")."),
            ("\"", "\","),
            ("我的是", "，别忘了"),
            ("export X='", "'"),
            ("{\"a\":\"", "\"}"),
            ("a,", ";b"),
            ("line\n", "\nline"),
            ("！", "。"),
        ] {
            let text = format!("{before}{secret}{after}");
            let redacted = redact(&text);
            assert_eq!(
                redacted.text,
                format!("{before}{}{after}", kind.mark()),
                "{text}"
            );
            assert_eq!(redacted.found, [kind], "{text}");
        }
        // A line end that is written out.
        let text = format!("x\\n{secret}\\n");
        assert!(!redact(&text).text.contains(&secret), "{text}");
    }
}

#[test]
fn several_in_one_text_are_all_replaced() {
    let all: Vec<String> = secrets().into_iter().map(|(secret, _)| secret).collect();
    let text = all.join(" and ");
    let redacted = redact(&text);
    for secret in &all {
        assert!(!redacted.text.contains(secret.as_str()), "{secret}");
    }
    assert_eq!(redacted.found.len(), all.len());
}

#[rstest]
#[case("password = hunter2", "password = [redacted password]")]
#[case("password: \"swordfish\"", "password: \"[redacted password]\"")]
#[case(
    "the wifi password is Blue42Sky.",
    "the wifi password is [redacted password]."
)]
#[case("my password is: Tr0ub4dor&3!", "my password is: [redacted password]")]
#[case(
    "{\"password\": \"s3cr3t-Pa55\"}",
    "{\"password\": \"[redacted password]\"}"
)]
#[case("DB_PASSWORD=swordfish", "DB_PASSWORD=[redacted password]")]
#[case(
    "docker login -u me -p S3cretPw99",
    "docker login -u me -p [redacted password]"
)]
#[case(
    "redis-cli -a S3cretPw99 ping",
    "redis-cli -a [redacted password] ping"
)]
#[case("mysql -u me -pS3cretPw99 db", "mysql -u me -p[redacted password] db")]
#[case("7z a -pS3cretPw99 x.7z x", "7z a -p[redacted password] x.7z x")]
#[case(
    "<password>S3cretPw99</password>",
    "<password>[redacted password]</password>"
)]
#[case(
    "define('DB_PASSWORD', 'swordfish');",
    "define('DB_PASSWORD', '[redacted password]');"
)]
#[case(
    "- name: DB_PASSWORD\n  value: S3cretPw99",
    "- name: DB_PASSWORD\n  value: [redacted password]"
)]
#[case(
    "{\"name\": \"DB_PASS\", \"value\": \"S3cretPw99\"}",
    "{\"name\": \"DB_PASS\", \"value\": \"[redacted password]\"}"
)]
#[case(
    "<add key=\"Password\" value=\"S3cretPw99\"/>",
    "<add key=\"Password\" value=\"[redacted password]\"/>"
)]
#[case(
    "ENV API_KEY 2a76d7c29203e97ebf7aaa15fc5d26d3",
    "ENV API_KEY [redacted API key]"
)]
#[case(
    "OPENAI_KEY=2a76d7c29203e97ebf7aaa15fc5d26d3",
    "OPENAI_KEY=[redacted API key]"
)]
#[case("_auth=dXNlcjpTM2NyZXRwdzk5", "_auth=[redacted secret]")]
#[case(
    "with the token 0mjIorXv2MGBGTsaUZJ6uSFwHSenCX2ZGLkW",
    "with the token [redacted access token]"
)]
#[case("**Password:** hunter2abc", "**Password:** [redacted password]")]
#[case("密码：hunter2abc，别写出来", "密码：[redacted password]，别写出来")]
#[case("我的密码是hunter2abc。", "我的密码是[redacted password]。")]
#[case("口令: 83719264", "口令: [redacted password]")]
#[case("密钥=a1B2c3D4e5F6g7H8", "密钥=[redacted API key]")]
#[case("Passwort: Geheim99", "Passwort: [redacted password]")]
#[case("mot de passe : Secret99x", "mot de passe : [redacted password]")]
#[case("contraseña: Hola1234", "contraseña: [redacted password]")]
#[case("пароль: qwerty77", "пароль: [redacted password]")]
#[case("パスワード：sakura123", "パスワード：[redacted password]")]
#[case("비밀번호: seoul2024", "비밀번호: [redacted password]")]
#[case("api key: a1B2c3D4e5F6g7H8", "api key: [redacted API key]")]
#[case(
    "api_key='0f1e2d3c4b5a69788796a5b4c3d2e1f0'",
    "api_key='[redacted API key]'"
)]
#[case(
    "X-Api-Key: 7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "X-Api-Key: [redacted API key]"
)]
#[case(
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzQ1kL2mN3",
    "aws_secret_access_key = [redacted API key]"
)]
#[case("token: a1B2c3D4e5F6g7H8", "token: [redacted access token]")]
#[case(
    "Authorization: Bearer a1B2c3D4e5F6g7H8",
    "Authorization: Bearer [redacted access token]"
)]
#[case(
    "Authorization: Basic dXNlcjpwYXNzd29yZA==",
    "Authorization: Basic [redacted access token]"
)]
#[case(
    "curl -u admin:Hunter2x https://h",
    "curl -u admin:[redacted password] https://h"
)]
#[case(
    "mysql -u root -pHunter2x db",
    "mysql -u root -p[redacted password] db"
)]
#[case(
    "run --password Hunter2x --port 1",
    "run --password [redacted password] --port 1"
)]
#[case(
    "AccountName=x;AccountKey=a1B2c3D4e5F6g7H8i9J0/k1L2m3==;EndpointSuffix=y",
    "AccountName=x;AccountKey=[redacted API key];EndpointSuffix=y"
)]
#[case(
    "?sv=2022&sig=a1B2c3D4e5F6%2Bg7H8i9J0%3D&se=1",
    "?sv=2022&sig=[redacted secret]&se=1"
)]
#[case(
    "postgres://app:p4ss/w@rd@db:5432/x",
    "postgres://app:[redacted password]@db:5432/x"
)]
#[case(
    "mongodb+srv://u:hunter2@c.example.net/db",
    "mongodb+srv://u:[redacted password]@c.example.net/db"
)]
#[case(
    "redis://:hunter2@localhost:6379",
    "redis://:[redacted password]@localhost:6379"
)]
#[case(
    "https://me:hunter2@host/path?q=a@b",
    "https://me:[redacted password]@host/path?q=a@b"
)]
#[case(
    "https://hooks.slack.com/services/T01AB/B02CD/a1B2c3D4e5F6g7H8",
    "https://hooks.slack.com/services/[redacted access token]"
)]
fn what_a_name_calls_a_secret_is_replaced(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(redact(text).text, expected);
}

#[rstest]
#[case::whole("-----BEGIN RSA PRIVATE KEY-----\n{b}\n{b}\nqwER==\n-----END RSA PRIVATE KEY-----")]
#[case::written_out("-----BEGIN PRIVATE KEY-----\\n{b}\\n{b}\\n-----END PRIVATE KEY-----\\n")]
#[case::one_line("-----BEGIN OPENSSH PRIVATE KEY----- {b} {b} -----END OPENSSH PRIVATE KEY-----")]
#[case::end_cut_off("-----BEGIN EC PRIVATE KEY-----\n{b}\n{b}\nqwER")]
#[case::end_cut_off_and_prose("-----BEGIN EC PRIVATE KEY-----\n{b}\n{b}\n")]
#[case::beginning_cut_off("{b}\n{b}\nqwER==\n-----END PRIVATE KEY-----")]
#[case::pgp(
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{b}\n=a1B2\n-----END PGP PRIVATE KEY BLOCK-----"
)]
#[case::locked(
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0F1E\n\n{b}\n-----END RSA PRIVATE KEY-----"
)]
#[case::bare("b3BlbnNzaC1rZXktdjE{b}")]
fn private_keys_are_replaced(#[case] block: &str) {
    let block = block.replace("{b}", &format!("MIIE+/{}", body(58)));
    for text in [
        block.clone(),
        format!("before {block} after all"),
        format!("前{block}"),
    ] {
        let redacted = redact(&text);
        assert!(redacted.found.contains(&Secret::PrivateKey), "{text}");
        assert!(!redacted.text.contains("a1B2"), "{}", redacted.text);
        assert!(
            !text.contains("after") || redacted.text.contains("after all"),
            "{}",
            redacted.text
        );
    }
}

#[rstest]
#[case("commit 0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c, short 0f1e2d3")]
#[case("id 7c9e6679-7425-40de-944b-e07fc1f90ae7")]
#[case("a risk-based plan, a task-force, disk-space")]
#[case("ENV GPG_KEY 7169605F62C751356D054A26A821E680E5FA6305")]
#[case("CACHE_KEY=linux-0f1e2d3c4b5a69788796a5b4c3d2e1f0")]
#[case("name: web\n  value: 0f1e2d3c4b5a69788796a5b4c3d2e1f0; échoué value=1; é: value: x1y2z3")]
#[case("echo \"$PASSWORD\" > pass1.txt; if token > limit42")]
#[case("docker run -p 8080:80 x; ssh -p 2222 h; zip -r a.zip b; cp -p a1b2c3 d")]
#[case("define(\"db_password\", default=\"blog\"); define('NAME', 'abc123def');")]
#[case(
    "re_match_first_thing_in_the_text_2, fc-list, key-value-store, aio_read_file_in_background_x"
)]
#[case("sk-learn, sk-SK, sk-learn-contrib-extension-2024, task-management-system-for-teams")]
#[case("#ff8800 and #FF8800AA")]
#[case("v1.2.3-rc.1+build.20240101")]
#[case("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4")]
#[case("/usr/local/lib/python3.12/site-packages/sk_learn/token.py")]
#[case("class=\"px-4 py-2 text-sm md:hover:bg-blue-500\"")]
#[case("password: required")]
#[case("token limit: 4096; max_tokens=8192; tokens: 1234")]
#[case("the API key field, an API key is required, password is needed")]
#[case("api_key = YOUR_API_KEY_1234")]
#[case("export OPENAI_API_KEY=sk-... and sk-xxxxxxxxxxxxxxxxxxxxxxxx")]
#[case("token=<token>, password=$PASSWORD, secret=${{ secrets.X }}, pw: ****")]
#[case("Authorization: Bearer $TOKEN, Authorization: Bearer <token>")]
#[case("password = os.environ[\"DB_PASSWORD\"]; token = parser.next_token()")]
#[case("password = get_password(user1); secret = config.secret2")]
#[case("password: sha256, password hash: argon2id; password: utf8")]
#[case("the password is at least 12 characters")]
#[case("passwords: never log them. token: see /etc/tokens/a1.txt")]
#[case("ISBN 978-3-16-148410-0, order 4111111111111111, #4111111111111111")]
#[case("2026-11-30T12:00:00+00:00, 1700000000000, 192.168.1.10:8080")]
#[case("token: 2026-11-30T12:00:00Z")]
#[case(
    "postgres://localhost:5432/db, postgres://user:password@host/db, postgres://$USER:$PASS@host/db"
)]
#[case("git@github.com:me/repo.git, https://example.com/a:b@c")]
#[case("喜欢简洁的代码：不要写注释。缩进是两个空格。密码：必填")]
#[case("the secret: rotate-every-90-days, the key: value")]
#[case("reach me at someone@example.org or +49 30 1234567")]
#[case("hf_transfer_enabled_by_default_in_this_version")]
#[case("-----BEGIN CERTIFICATE-----")]
#[case("-----BEGIN PUBLIC KEY-----")]
#[case("sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0")]
#[case("getElementById querySelectorAll AuthenticationTokenProviderFactory2")]
#[case("")]
fn what_only_looks_like_one_stays_and_is_borrowed(#[case] text: &str) {
    let redacted = redact(text);
    assert_eq!(redacted.text, text);
    assert!(matches!(redacted.text, Cow::Borrowed(_)));
}

#[rstest]
#[case(
    "write to ann.lee+x@mail.example.org please",
    "write to [redacted e-mail] please"
)]
#[case("call +49 30 1234567 now", "call [redacted phone number] now")]
#[case("(415) 555-0123", "[redacted phone number]")]
#[case("手机13812345678。", "手机[redacted phone number]。")]
#[case("tel: 030 1234567", "tel: [redacted phone number]")]
#[case(
    "v1.2.3 on 2026-11-30 at 10.0.0.1:8080",
    "v1.2.3 on 2026-11-30 at 10.0.0.1:8080"
)]
#[case(
    "logo@2x.png, git@github.com:a/b, react@18.2.0",
    "logo@2x.png, git@github.com:a/b, react@18.2.0"
)]
fn quotes_lose_addresses_and_phone_numbers_too(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(redact_in(text, Scope::Quote).text, expected);
    assert_eq!(redact(text).text, text);
}

#[test]
fn a_sentence_says_what_was_replaced() {
    assert_eq!(sentence([]), None);
    assert_eq!(
        sentence([Secret::ApiKey, Secret::ApiKey]).as_deref(),
        Some("an API key was replaced by a mark; aizo stores no secrets")
    );
    assert_eq!(
        sentence([Secret::Password, Secret::ApiKey]).as_deref(),
        Some("an API key and a password were replaced by marks; aizo stores no secrets")
    );
}

/// Text with the pieces in it that something is looked for at.
fn pieces() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        "[ -~]{0,12}",
        "\\PC{0,4}",
        "[0-9 +-]{0,20}",
        "[A-Za-z0-9_-]{8,40}",
        proptest::sample::select(vec![
            "password",
            "token: ",
            "api_key=",
            "密码：",
            "是",
            "-----BEGIN",
            "-----END",
            " PRIVATE KEY-----",
            "://",
            "@",
            ":",
            "=",
            "\"",
            "'",
            "sk-",
            "eyJ",
            ".",
            "Bearer ",
            "SG.",
            "ghp_",
            "postgres://a:",
            "\\n",
            "\n",
            "--password ",
            "-u ",
            "[redacted API key]",
            "[redacted password]",
            "4111 1111 1111 1111",
            "DE89 3704 0044 0532 0130 00",
            "is ",
            "(",
            "[",
            "Authorization: ",
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn redacting_twice_changes_nothing(text in pieces()) {
        for scope in [Scope::Any, Scope::Quote] {
            let once = redact_in(&text, scope);
            let twice = redact_in(&once.text, scope);
            prop_assert_eq!(&twice.text, &once.text);
            prop_assert!(twice.found.is_empty());
            prop_assert!(matches!(twice.text, Cow::Borrowed(_)));
            prop_assert_eq!(once.found.is_empty(), once.text == text);
        }
    }

    #[test]
    fn what_comes_out_never_holds_the_secret(before in "[a-z ]{0,8}[ (\"'`,;。，\n]", after in "([ )\"'`,;。，\n][a-z ]{0,8})?", which in 0_usize..41) {
        let all = secrets();
        let (secret, _) = &all[which % all.len()];
        let text = format!("{before}{secret}{after}");
        prop_assert!(!redact(&text).text.contains(secret.as_str()), "{}", text);
    }
}

/// What seems to begin something at every other byte.
const HOSTILE: [&str; 20] = [
    "a:a@a:a@",
    "key=key=",
    "apikey=",
    "password=",
    ":",
    "1:",
    "token:",
    "a://",
    "a://a:b@",
    "postgres://",
    "sk-",
    "s-",
    "eyJhbGciOiJIUzI1.",
    "SG.",
    "ya29.",
    " -pabcd",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "AB12 ",
    "b3BlbnNzaC1rZXktdjE=",
];

#[test]
fn what_is_looked_at_more_than_once_is_counted() {
    use std::cell::Cell;
    const MOST: usize = 100_000;
    for part in HOSTILE {
        let text = part.repeat(400_000 / part.len());
        let left = Cell::new(MOST);
        let spend = |steps: usize| {
            let less = left.get().checked_sub(steps);
            left.set(less.unwrap_or_default());
            less.is_some()
        };
        let (found, is_whole) = find_within(&text, &spend);
        // Where it came to its end, all was found; else all steps are used up.
        assert!(is_whole || left.get() == 0, "{part}");
        if is_whole {
            assert_eq!(found, find(&text), "{part}");
        }
    }
}

#[test]
fn a_text_that_was_made_to_be_slow_is_not() {
    use std::time::{Duration, Instant};
    let time = |text: &str| {
        let times = (0..3).map(|_| {
            let start = Instant::now();
            find(text);
            start.elapsed()
        });
        times.min().unwrap_or(Duration::MAX)
    };
    let plain = time(&"some plain words, ".repeat(4_000));
    for part in HOSTILE {
        let few = part.repeat(4_000 / part.len());
        let many = part.repeat(64_000 / part.len());
        let (short, long) = (time(&few), time(&many));
        // As a ratio of one run: a machine may be slow. What grows with the square takes 256 times as long.
        assert!(
            long < (short * 128).max(plain * 128),
            "{part}: {short:?}, then {long:?}"
        );
    }
}
