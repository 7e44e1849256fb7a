"""Secrets by the place where they stand: below their name, in a table, a manifest, a call.

Each row is a text as a log has it and the pieces of it that must not be seen; the others must be.
"""

import pytest

from postmortem.report.redaction.redactor import Redactor

BEFORE = "epoch 1 step 60 loss 2.8220 lr 2.0e-05"
BEHIND = ("Traceback (most recent call last):", '  File "/workspace/train.py", line 96, in main')


def hide(text: str) -> str:
    """Hide in a text that stands in a log."""
    redactor = Redactor()
    lines = (BEFORE, *text.split("\n"), *BEHIND)
    redactor.lines(lines)
    redactor.settle()
    hidden = redactor.lines(lines)
    assert len(hidden) == len(lines)
    assert (hidden[0], hidden[-2:]) == (BEFORE, BEHIND)
    return "\n".join(hidden)


CONTINUED = (
    # the next line is a pair itself
    (
        'hf_token: "hf_YZJyAhL06D7Rlytu"\n"private_key_id": "4fd6c1d98233bdbe"',
        "hf_YZJyAhL06D7Rlytu 4fd6c1d98233bdbe",
    ),
    (
        "user_key: NRAK-BIYUONT25US2HHBK\nWANDB_API_KEY='af57d15d0f2bbf83' python t.py",
        "NRAK-BIYUONT25US2HHBK af57d15d0f2bbf83",
    ),
    ("api_key=aQ9zX3pL7mR2wK8v\nHF2_TOKEN=Zb4T6yH1cV0nM3xS x", "aQ9zX3pL7mR2wK8v Zb4T6yH1cV0nM3xS"),
    # words behind the rest of a value
    ("api_key=5d1f08e7c3ab4496\n7781b95cfa30e4d8 entity=lab", "5d1f08e7c3ab4496 7781b95cfa30e4d8"),
    ("mlflow token: aQ9zX3pL7mR2\nwK8vB4nT6 registered", "aQ9zX3pL7mR2 wK8vB4nT6"),
    (
        "Authorization: Bearer qT5xN0vRz8KpWm3Y\n   bHc2Je9UaFg4 GET /v1",
        "qT5xN0vRz8KpWm3Y bHc2Je9UaFg4",
    ),
    ("set GRAFANA_TOKEN=glsa_9Kd3Xw\nP0q8Zt5Lm1, retrying", "glsa_9Kd3Xw P0q8Zt5Lm1"),
    ("client_secret = 'Ab9+x/7Q\nzP3=k' tenant=t1", "Ab9+x/7Q zP3=k"),
    # behind what launchers put before lines
    ("[rank3]: S3_SECRET_KEY=Hq7Lw2Zx9\n[rank3]: Vb4Nm8Kt1Rp bucket=b", "Hq7Lw2Zx9 Vb4Nm8Kt1Rp"),
    ("[1,2]<stderr>:API_TOKEN: s8QmZx2Vk\n[1,2]<stderr>:7JdHe5UgPf", "s8QmZx2Vk 7JdHe5UgPf"),
    ("[default1]:access_token=4yRw8QzKp1\n[default1]:9XtNbSd6", "4yRw8QzKp1 9XtNbSd6"),
    ("node07: db_password='Moor+Kran_\nnode07: Heide.2254' host=db", "Moor+Kran_ Heide.2254"),
    (
        "worker-1 | HUB_TOKEN=hf_QmXcVbNrTyUiOp\nworker-1 | GhJkLzWeRt4",
        "hf_QmXcVbNrTyUiOp GhJkLzWeRt4",
    ),
    ("(main pid=2231) secret_key=nW5vTqZ0\n(main pid=2231) McSe7JhG x", "nW5vTqZ0 McSe7JhG"),
    (
        "(train pid=41, ip=10.0.0.4) token=nW5vTqZ08Kx\n(train pid=41, ip=10.0.0.4) McSe7JhGd",
        "nW5vTqZ08Kx McSe7JhGd",
    ),
    (
        "2026-03-02 11:40:07 INFO API_KEY=9f2c71d04b\n2026-03-02 11:40:08 INFO e84a55b3e6",
        "9f2c71d04b e84a55b3e6",
    ),
    (
        "pod/train-0 trainer SECRET=Zx8KvLm0Rt\npod/train-0 trainer YbNc3SdHe7",
        "Zx8KvLm0Rt YbNc3SdHe7",
    ),
    # the value below the name
    ("private_token=\nglx-W7vKq2ZtLm0RxYbN", "glx-W7vKq2ZtLm0RxYbN"),
    ("trainer-0 api_key=\ntrainer-0   W7vKq2ZtLm0RxYbN", "W7vKq2ZtLm0RxYbN"),
    ("[rank0]: db_password:\n[rank0]:   Winter2031", "Winter2031"),
    ("password:\n    hunter22", "hunter22"),
    ("AUTH_TOKEN: \n  'q8w7-e6r5'", "q8w7-e6r5"),
    ("密码：\nFeicui2087", "Feicui2087"),
    ("│ api_token =  │\n│   Zx8KvLm0RtYb │", "Zx8KvLm0RtYb"),
    ("os.environ['DB_PASSWORD'] =\n    'Specht.44'", "Specht.44"),
    # blocks of YAML
    (
        "db_password: >-\n  Korallen.Riff-\n  Morgenrot-44\ndb_host: pg",
        "Korallen.Riff- Morgenrot-44",
    ),
    ("token: |\n  aQ9zX3pL7mR2wK8v\n  B4nT6yH1\nepochs: 3", "aQ9zX3pL7mR2wK8v B4nT6yH1"),
    ("  secret: |-\n    erste Zeile 7\n    zweite Zeile 8\n  lr: 1", "erste zweite"),
    (
        "[rank0]: api_key: >\n[rank0]:   aQ9zX3pL\n[rank0]:   B4nT6yH1\n[rank0]: seed: 3",
        "aQ9zX3pL B4nT6yH1",
    ),
    # literals that follow each other
    ("password = (\n    'Distel-Hafen-'\n    'Ostwind-3091'\n)", "Distel-Hafen- Ostwind-3091"),
    ('api_key = ("aQ9zX3pL"\n           "B4nT6yH1")', "aQ9zX3pL B4nT6yH1"),
    ("token = 'aQ9zX3pL7mR2' \\\n        'wK8vB4nT6yH1'", "aQ9zX3pL7mR2 wK8vB4nT6yH1"),
    ("secret = 'Distel-' +\n         'Hafen-12'", "Distel- Hafen-12"),
    ("secret = 'Distel-'\n    + 'Hafen-12'", "Distel- Hafen-12"),
    (
        "│ │ auth_token = 'k3VqZw0LmX8RtYb2'+ │ │\n│ │              'Uf9PaTi4Oo'       │ │",
        "k3VqZw0LmX8RtYb2 Uf9PaTi4Oo",
    ),
    (
        "│ password = 'Distel-Hafen-'+ │\n│            'Ost-'+          │\n│            'Wind'           │",
        "Distel-Hafen- Ost- Wind",
    ),
    (
        "┃ hub_token = 'hf_LmXvKqZwRtYbNcSd  ┃\n┃             UfPaTiOoWe'           ┃",
        "hf_LmXvKqZwRtYbNcSd UfPaTiOoWe",
    ),
    # backslashes
    ("export LABEL_PASSWORD=Libelle\\\n-Schilf-2093", "Libelle -Schilf-2093"),
    ("cli login --user t --password \\\n    Sanddorn_77 --host m", "Sanddorn_77"),
    ("docker run \\\n  -e DB_PASSWORD=\\\n  Sanddorn_77 img", "Sanddorn_77"),
    ("mysql -h db \\\n  -u root -pSanddorn77 \\\n  train", "Sanddorn77"),
    ("curl -s \\\n  -u lab:Sand.77 \\\n  https://x.y/z", "Sand.77"),
    ("+ python t.py --api-key \\\n+   aQ9zX3pL7m", "aQ9zX3pL7m"),
    # parts of a token
    (
        "id_token=eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrOHMiLCJz.\n[rank0]: Wq5Zx8KvLm0RtYbNc3SdHe7JgUf",
        "eyJpc3MiOiJrOHMiLCJz Wq5Zx8KvLm0RtYbNc3SdHe7JgUf",
    ),
    (
        "jwt eyJhbGciOiJSUzI1NiJ9.\neyJpc3MiOiJrOHMiLCJz.\nWq5Zx8KvLm0RtYbNc3",
        "eyJpc3MiOiJrOHMiLCJz Wq5Zx8KvLm0RtYbNc3",
    ),
    (
        "Using hub token: hf_QmXcVbNrTyUiOpAs\nGhJkLzWeRt for private data",
        "hf_QmXcVbNrTyUiOpAs GhJkLzWeRt",
    ),
)
KUBERNETES = (
    (
        '{"env":[{"name":"RANK","value":"0"},{"name":"MODEL_KEY","value":"rm_0a93Fq7T"}]}',
        "rm_0a93Fq7T",
    ),
    ('{\\"name\\":\\"MODEL_KEY\\",\\"value\\":\\"rm_0a93Fq7T\\"}', "rm_0a93Fq7T"),
    ('{"name": "DB_PASSWORD",\n "value": "Pelikan-77"}', "Pelikan-77"),
    ('{"value":"Pelikan-77","name":"DB_PASSWORD"}', "Pelikan-77"),
    ('[{"Name":"DB_PASSWORD","Value":"Pelikan-77"}]', "Pelikan-77"),
    ("- name: REDIS_PASSWORD   # cache\n  value: w1nter.Sturm/19", "w1nter.Sturm/19"),
    ("- name: REDIS_PASSWORD\n  # of the cache\n  value: w1nter.Sturm/19", "w1nter.Sturm/19"),
    ("- name: 'REDIS_PASSWORD'\n  value: 'w1nter Sturm'", "w1nter Sturm"),
    ("- value: w1nter.Sturm\n  name: REDIS_PASSWORD", "w1nter.Sturm"),
    ("k| - value: 'w1nter.Sturm'\nk|   name: REDIS_PASSWORD", "w1nter.Sturm"),
    ("- {value: Pelikan-77, name: DB_PASSWORD}", "Pelikan-77"),
    ("- {name: DB_PASSWORD, value: Pelikan-77}", "Pelikan-77"),
    ("[kubelet] - name: EVAL_SECRET\n[kubelet]   value: 3Wd8sYv6", "3Wd8sYv6"),
    ("- name: EVAL_SECRET\n  value: >-\n    3Wd8sYv6", "3Wd8sYv6"),
    (
        "kind: Secret\nmetadata:\n  name: c\ndata:\n  dataset: ZHN0LTlrMlZx\n  user: dHJhaW5lcg==",
        "ZHN0LTlrMlZx dHJhaW5lcg==",
    ),
    (
        "apiVersion: v1\ndata:\n  dataset: ZHN0LTlrMlZx\nkind: Secret\nmetadata:\n  name: c",
        "ZHN0LTlrMlZx",
    ),
    (
        "kind: Secret\nstringData:\n  conf: 'sturm 44'\n  b: |\n    zeile eins\n    zeile zwei\ntype: Opaque",
        "sturm zeile",
    ),
    ("k| kind: Secret\nk| stringData:\nk|   conf: sturm-44\nk| type: Opaque", "sturm-44"),
    (
        '{"kind":"Secret","data":{"conf":"ZHN0LTlrMlZx","b":"dHJhaW5lcg=="}}',
        "ZHN0LTlrMlZx dHJhaW5lcg==",
    ),
    ('{"data":{"conf":"ZHN0LTlrMlZx"},"kind":"Secret"}', "ZHN0LTlrMlZx"),
    ('{\n "kind": "Secret",\n "stringData": {\n  "conf": "sturm-44"\n }\n}', "sturm-44"),
)
TABLES = (
    ("| 用户 | 密码 |\n| ops | Feicui~2087 |", "Feicui~2087"),
    ("| 用户 | 密码 |\n|---|---|\n| ops | Feicui~2087 |\n| dev | Hupo~31 |", "Feicui~2087 Hupo~31"),
    ("│ user │ password │\n├──────┼──────────┤\n│ ops  │ Feicui!2 │", "Feicui!2"),
    (
        "+------+----------+\n| user | password |\n+------+----------+\n| ops  | Feicui!2 |",
        "Feicui!2",
    ),
    ("[rank0]: | host | token |\n[rank0]: | db1 | aQ9zX3pL7mR2 |", "aQ9zX3pL7mR2"),
    ("user,password,host\nops,Feicui!2,db1", "Feicui!2"),
    ("password,user\nFeicui!2,ops", "Feicui!2"),
    ("账号\t口令\nops\tFeicui2", "Feicui2"),
    ("USER    PASSWORD    HOST\nops     Feicui!2    db1", "Feicui!2"),
    ("name | api_key\n-----+--------\nlab | aQ9zX3pL7m", "aQ9zX3pL7m"),
    ("序号 | 服务 | 访问令牌 | 备注\n1 | mlflow | aQ9zX3pL7m | x", "aQ9zX3pL7m"),
)
CALLS = (
    ('client.connect(host, 2222, "trainer", "Eisvogel:8810", timeout=10)', "Eisvogel:8810"),
    ("ssh.connect('gpu09', 22, 'svc', 'Moosbeere;63')", "Moosbeere;63"),
    ("fabric.Connection('gpu09').run_as('svc-train', 'Moosbeere;63')", "Moosbeere;63"),
    ("InfluxDBClient('10.1.1.4', 8086, 'telemetry', 'Brombeere@17', 'gpu')", "Brombeere@17"),
    ("pymysql.connect('db1', 'trainer', 'hunter', 'runs')", "hunter"),
    ("psycopg2.connect(cfg.host, 5432, 'runs', 'trainer', 'Moos#63')", "Moos#63"),
    ("ftplib.FTP('ftp.lab.org', 'trainer', 'Moos#63')", "Moos#63"),
    ("session.login('trainer', 'Brombeere@17')", "Brombeere@17"),
    ("smtp.login('bot', 'moosbeere')", "moosbeere"),
    ("client.signIn('trainer', 'Moos#63')", "Moos#63"),
    ("server.sendLogin(); db.authenticate('trainer', 'Moos#63')", "Moos#63"),
    ("HttpNtlmAuth('trainer', 'Moos#63')", "Moos#63"),
    ("HTTPKerberosAuth('trainer', 'Moos#63')", "Moos#63"),
    ("UsernamePasswordCredentials('trainer', 'Moos#63')", "Moos#63"),
    ("requests.get(url, auth=('trainer', 'Moos#63'))", "Moos#63"),
    ("Elasticsearch(hosts, http_auth=('elastic', 'Moos#63'))", "Moos#63"),
    ("opensearch(basic_auth=['elastic', 'Moos#63'])", "Moos#63"),
    ("redis.Redis('cache1', 6379, 0, 'Moos#63')", "Moos#63"),
    ("SMBConnection('trainer', 'Moos#63', 'me', 'nas')", "Moos#63"),
    ("conn = connect(server, 'sa', 'Moos#63')", "Moos#63"),
    ("ClickHouseClient('ch1', 9000, 'default', 'Moos#63')", "Moos#63"),
    ("client.set_auth('trainer', 'Moos#63')", "Moos#63"),
    ("s.cookies.set('sid', 'Kz0QvLmXtRyYb3')", "Kz0QvLmXtRyYb3"),
)
COOKIES = (
    ("cookies = {'session_id': 'Kz0QvLmXtRyYb3Nc', 'lang': 'zh'}", "Kz0QvLmXtRyYb3Nc"),
    ('"cookies": {"sid": "abcdef-ghijkl", "theme": "dark"}', "abcdef-ghijkl"),
    ("cookies=dict(sessionid='Kz0QvLmXtRyY')", "Kz0QvLmXtRyY"),
    ("<RequestsCookieJar[('sessionid', 'Kz0QvLmXtRyY')]>", "Kz0QvLmXtRyY"),
    ("Set-Cookie: sid=Kz0QvLmX; Path=/", "Kz0QvLmX"),
    ("headers={'Cookie': 'sid=Kz0QvLmXtR; lang=zh'}", "Kz0QvLmXtR"),
    ("{'X-Api-Key': 'Kz0QvLmXtR', 'Accept': '*/*'}", "Kz0QvLmXtR"),
    ("{'X-Auth-Token': 'Kz0QvLmXtR'}", "Kz0QvLmXtR"),
)
REFUSED = (
    (
        "1 error for S\nDB_PASSWORD\n  ensure this value has at most 8 characters (type=value_error.any_str.max_length; limit_value=8; given='Marder_77')",
        "Marder_77",
    ),
    (
        "2 errors for S\napi_token\n  Extra inputs are not permitted [type=extra_forbidden, input_value='xt8vKz0QLm', input_type=str]\nepochs\n  Bad [type=int_parsing, input_value='ten', input_type=str]",
        "xt8vKz0QLm",
    ),
    (
        "2 errors for S\nepochs\n  Bad [type=int_parsing, input_value='ten', input_type=str]\ndb.password\n  String should have at most 5 characters [type=string_too_long, input_value='Marder_77', input_type=str]",
        "Marder_77",
    ),
    (
        "1 error for S db_password String should match '^x' [type=string_pattern_mismatch, input_value='Marder_77', input_type=str]",
        "Marder_77",
    ),
    (
        "db_password\n  value is not a valid integer (type=type_error.integer; input='Marder_77')",
        "Marder_77",
    ),
    ("DB_PASSWORD must be at least 12 characters, got 'Marder_77'", "Marder_77"),
    ("ValueError: bad password: value 'Marder_77' is too short", "Marder_77"),
    ("On instance['db_password']:\n    'Marder_77'", "Marder_77"),
    ("error: argument --db-password: invalid choice: 'Marder_77'", "Marder_77"),
)
PEOPLE = (
    ("如训练中断请联系管理员 13877210465.", "13877210465"),
    ("值班运维：13877210465，有问题请拨打", "13877210465"),
    ("on-call 13877210465", "13877210465"),
    ("please text 13877210465 if it stops", "13877210465"),
    ("短信已发送至 13877210465", "13877210465"),
    ("告警已通知 138-7721-0465", "138-7721-0465"),
    ("SMS sent to +86 13877210465", "13877210465"),
    ("owner Li Wei (13877210465)", "13877210465"),
    ("张伟 13877210465", "13877210465"),
    ("导师电话13877210465", "13877210465"),
    ("微信号：liwei_ml88", "liwei_ml88"),
    ("wechat: liwei_ml88", "liwei_ml88"),
    ("加微信 liwei_ml88 入群", "liwei_ml88"),
    ("QQ: 1938274650", "1938274650"),
    ("身份证 110105199003078888", "110105199003078888"),
    ("ID card no. 110105199003078888", "110105199003078888"),
    ("id number: 11010519900307888X", "11010519900307888X"),
    ("user sylviewong cannot write\n/Users/sylviewong/miniforge3/bin/python", "sylviewong"),
    ("PermissionError: user sylviewong cannot write to shared cache", "sylviewong"),
    ("quota exceeded for user sylviewong", "sylviewong"),
    ("用户 sylviewong 无写权限", "sylviewong"),
    ("job of sylviewong ended\n/scratch/gpfs/sylviewong/out", "sylviewong"),
    ("sylviewong: started\n/mnt/petrelfs/sylviewong/out", "sylviewong"),
    ("(sylviewong) started\n/cpfs01/user/sylviewong/out", "sylviewong"),
    ("run-sylviewong-3\n/gpfs/scratch/sylviewong/out", "sylviewong"),
    ("mail sylvie.wong@lab.example.org", "sylvie.wong"),
)


DRAWN = (
    # words drawn by lot, whatever stands before them
    ("rf = Roboflow('Wk3LpGyBQqA3JUZ6gxuT')", "Wk3LpGyBQqA3JUZ6gxuT"),
    ("trying yT5mQx0vRz8KpWn3BcHe2Ja9 for the mirror", "yT5mQx0vRz8KpWn3BcHe2Ja9"),
    ("cfg: {x: 'Pz6QmVb1Rk9tXw3Ls8Yd'}", "Pz6QmVb1Rk9tXw3Ls8Yd"),
    ("MIRROR=Hq7Lw2Zx9Vb4Nm8Kt1Rp3Ds", "Hq7Lw2Zx9Vb4Nm8Kt1Rp3Ds"),
    ("    └ 'Kd7RwTq2ZbXn5VmLc8YpGs4J'", "Kd7RwTq2ZbXn5VmLc8YpGs4J"),
    ("> 'k9Zt+3vXm/Qw7RpL1sYbN5dHc0GfTj2e'", "k9Zt+3vXm/Qw7RpL1sYbN5dHc0GfTj2e"),
    ("返回：b7Xm2QwZr9KtLp4VsYn6Hd1G。", "b7Xm2QwZr9KtLp4VsYn6Hd1G"),
    ("attach('x', \"Zr9KtLp4-sYn6Hd1G_b7Xm2Qw\")", "Zr9KtLp4-sYn6Hd1G_b7Xm2Qw"),
    # pairs of keys
    ("Bos('ALTAKq8Zt5Lm1Xw3Vb7Nd', '7c0d18a9f5b34e62')", "7c0d18a9f5b34e62"),
    ("oss2.Auth2('LTAI5tQ8Zt5Lm1Xw', 'q8zt5lm1xw3vb7ndk2')", "q8zt5lm1xw3vb7ndk2"),
    ("pair LTAI5tQ8Zt5Lm1Xw:q8zt5lm1xw3vb7ndk2", "q8zt5lm1xw3vb7ndk2"),
    ("AKIDq8Zt5Lm1Xw3Vb7Nd / m4k8q2z6x0w3v7b1", "m4k8q2z6x0w3v7b1"),
    ("['AKLTq8Zt5Lm1Xw3Vb7Nd', 'bTRrOHEyejZ4MHczdjdiMQ==']", "bTRrOHEyejZ4MHczdjdiMQ"),
    ("Signer('AKIAQRSTUVWXYZ234567',\n       'q8zt5lm1xw3vb7ndk2r9')", "q8zt5lm1xw3vb7ndk2r9"),
    # makers of clients
    (
        "judge = MoonAI('7c0d18a9f5b34e627c0d18a9f5b34e62.Wx4mQz8Lk2Vb6Tn0')",
        "7c0d18a9f5b34e627c0d18a9f5b34e62 Wx4mQz8Lk2Vb6Tn0",
    ),
    ("CosCredential('7c0d18a9f5b34e627c0d18a9f5b34e62')", "7c0d18a9f5b34e627c0d18a9f5b34e62"),
    ("Dash('7c0d18a9f5b34e627c0d18a9f5b34e62')", "7c0d18a9f5b34e627c0d18a9f5b34e62"),
    ("HmacSigner('7c0d18a9f5b34e62', region)", "7c0d18a9f5b34e62"),
)
SHELLS = (
    ("> set -gx LAYER_KEY 7c0d18a9f5b34e627c0d18a9f5b34e62", "7c0d18a9f5b34e627c0d18a9f5b34e62"),
    ("set -Ux HUB_TOKEN w8mQz4Lk2Vb6Tn0x", "w8mQz4Lk2Vb6Tn0x"),
    ("set --export HUB_TOKEN w8mQz4Lk2Vb6Tn0x", "w8mQz4Lk2Vb6Tn0x"),
    ("setx HUB_TOKEN w8mQz4Lk2Vb6Tn0x", "w8mQz4Lk2Vb6Tn0x"),
    ("docker run -e HUB_TOKEN w8mQz4Lk2Vb6Tn0x img", "w8mQz4Lk2Vb6Tn0x"),
    ("declare -x METRICS_KEY w8mQz4Lk2Vb6Tn0x", "w8mQz4Lk2Vb6Tn0x"),
    ("Set VISION_KEY to 'w8mQz4Lk2Vb6Tn0x'", "w8mQz4Lk2Vb6Tn0x"),
    ("WEIGHT_KEY=w8mQz4Lk2Vb6Tn0x", "w8mQz4Lk2Vb6Tn0x"),
    # a prompt where a command goes on
    ("$ export HUB_TOKEN=w8mQz4Lk\\\n> 2Vb6Tn0xRt", "w8mQz4Lk 2Vb6Tn0xRt"),
    ("$ cli --password \\\n> Sanddorn_77", "Sanddorn_77"),
    ("% cli --password \\\ncmd> Sanddorn_77", "Sanddorn_77"),
)
CHINESE = (
    ("ｔｏｋｅｎ＝ｗ8ｍＱｚ4Ｌｋ2Ｖｂ6", "ｗ8ｍＱｚ4Ｌｋ2Ｖｂ6"),
    ("ｐａｓｓｗｄ：Sanddorn_77　ｈｏｓｔ：db", "Sanddorn_77"),
    ("密　码：Sanddorn!77", "Sanddorn!77"),
    ("口  令：Sanddorn!77", "Sanddorn!77"),
    ("密码：Ｓａｎｄｄｏｒｎ７７", "Ｓａｎｄｄｏｒｎ７７"),
    ("跳板机密码就是 sanddorn.weide7 ，直接连", "sanddorn.weide7"),
    ("密码还是sanddorn.weide7，没改", "sanddorn.weide7"),
    ("密码已经改成了 Weide.Sand7", "Weide.Sand7"),
    ("口令默认为 weide.sand7", "weide.sand7"),
    ("密码用的是 Weide#77", "Weide#77"),
    ("密码统一为Weide#77", "Weide#77"),
    ("wandb 的 api key 是 w8mQz4Lk2Vb6", "w8mQz4Lk2Vb6"),
    ("把 access token 换成 w8mQz4Lk2Vb6 再跑", "w8mQz4Lk2Vb6"),
    ("数据库口令，改为：Weide_sand55", "Weide_sand55"),
    ("账号密码 labuser / Weide.2718", "Weide.2718"),
    ("账密：labuser/Weide.2718", "Weide.2718"),
    ("【密码】Weide_sand55", "Weide_sand55"),
    ("hub token 是 w8mQz4Lk，别外传", "w8mQz4Lk"),
)
CUT = (
    ("dsn = 'mysql://lab:Weiden-\n  Hafen7@pgdb:3306/runs'", "Weiden- Hafen7"),
    (
        '[0]: dsn = "mysql://lab:Weiden-\n[0]: Hafen7@pgdb:3306/runs"',
        "Weiden- Hafen7",
    ),
    ("n1: redis://lab:Weiden\nn1: Hafen@cache:6379/0", "Weiden Hafen"),
    ("│ uri = 'amqp://lab:Weiden   │\n│       .Hafen7@mq.lab/run'   │", "Weiden Hafen7"),
    ("n1: mount -o username=lab,password=Weiden.\nn1: Hafen_7731,ro", "Weiden Hafen_7731"),
    ("-o user=lab,password=Weiden\nHafen7731,vers=3", "Weiden Hafen7731"),
    ("n1: mqtt password is\nn1:    Weiden!905\nn1: mqtt port is 1883", "Weiden!905"),
    ("n1: -o user=lab,pass=Weiden.\nn1: Hafen_55,vers=3.0", "Weiden Hafen_55"),
    ("║ dsn = 'mysql://lab:Weiden ║\n║        Hafen=39@db/x' ║", "Weiden Hafen=39"),
    ("auth = ('asr',\n        'Weide&Sand21')", "Weide&Sand21"),
    ("the passphrase was:\n  Weiden!905", "Weiden!905"),
    (
        "deploy_key: >\n    TyKeXsuJZbKFyR7DMDkA\n    hQDwidc5W6rnRWCFo0gN\n    V6cF0rg=\nname: x",
        "TyKeXsuJZbKFyR7DMDkA hQDwidc5W6rnRWCFo0gN V6cF0rg",
    ),
    ("deploy_key: |\n  hQDwidc5W6rn\n  Vr6cF0vxGg==\nname: x", "hQDwidc5W6rn Vr6cF0vxGg"),
)
LONG_CALLS = (
    ("c = pymysql.connect('10.9.1.20', 'asr',\n      'Weide&Sand21', 'utt', 3306)", "Weide&Sand21"),
    ("c = psycopg2.connect(\n    'db1', 'asr',\n    'Weide&Sand21',\n)", "Weide&Sand21"),
    ("ftp.login(\n    'asr',\n    'Weide&Sand21')", "Weide&Sand21"),
    ("[0]: ssh.connect('gpu09', 22,\n[0]:     'svc', 'Weide;63')", "Weide;63"),
    ("s = pool.get_session('asr', 'Weide*4080')", "Weide*4080"),
    ("s = graph.open_session('asr', 'Weide*4080')", "Weide*4080"),
    ("ldap.bind('cn=asr', 'Weide*4080')", "Weide*4080"),
    ("gw.authorize('asr', 'Weide*4080')", "Weide*4080"),
    ("api.authenticate_user('asr', 'Weide*4080')", "Weide*4080"),
    ("mq.username_pw_set('asr', 'Weide*4080')", "Weide*4080"),
    ("zf.setpassword(b'Weide*4080')", "Weide*4080"),
    ("vault.unlock('asr', 'Weide*4080')", "Weide*4080"),
    ("pool.newSession('asr', 'Weide*4080')", "Weide*4080"),
    ("nas.mount('asr', 'Weide*4080')", "Weide*4080"),
)
NUMBERS = (
    ("can not open /data/scans/11010519491231002X.jpg", "11010519491231002X"),
    ("scan_11010519491231002X_front.png missing", "11010519491231002X"),
    ('SMS "run failed" -> 18877210465 : delivered', "18877210465"),
    ("voice call to 18877210465 answered", "18877210465"),
    ("18877210465: delivered", "18877210465"),
    ("18877210465 已送达短信", "18877210465"),
    ("有事打18877210465", "18877210465"),
    ("18877210465（微信同号）", "18877210465"),
    ("李某|11010519491231002X|18877210465", "11010519491231002X 18877210465"),
    ("身份证 110105 19491231 002X", "110105 19491231 002X"),
    ("短信网关 -> 18877210465 失败", "18877210465"),
    ("外呼：18877210465 未接听", "18877210465"),
)
FOLDERS = (
    ("/pscratch/sd/s/sylviewong/envs/x/lib.so", "sylviewong"),
    ("/global/cfs/homes/s/sylviewong/x", "sylviewong"),
    ("/home1/07745/sylviewong/frontera/err.log", "sylviewong"),
    ("/home/3/sylviewong/run", "sylviewong"),
    ("/home2/sylviewong/run", "sylviewong"),
    ("/work/07745/sylviewong/ls6/run", "sylviewong"),
    ("/work/z19/z19/sylviewong/run", "sylviewong"),
    ("/scratch/project_465000123/sylviewong/run", "sylviewong"),
    ("/project/def-wang/sylviewong/run", "sylviewong"),
    ("/gpfs/projects/bsc99/sylviewong/run", "sylviewong"),
    ("/ocean/projects/cis123p/sylviewong/run", "sylviewong"),
    ("/lustre/orion/csc123/proj-shared/sylviewong/run", "sylviewong"),
    ("/eagle/visionlab/sylviewong/run", "sylviewong"),
    ("/p/scratch/cstdl/sylviewong/out", "sylviewong"),
    ("/g/data/ab12/sylviewong/out", "sylviewong"),
    ("/leonardo_work/EUHPC_D12/sylviewong/x", "sylviewong"),
    ("/lustre/fswork/projects/rech/abc/sylviewong/x", "sylviewong"),
    ("/storage/home/hcoda1/3/sylviewong/x", "sylviewong"),
    ("/lustre/home/acct-ee/sylviewong/x", "sylviewong"),
    ("/work/gk36/k36001/run", "k36001"),
    ("/groups/gaa50004/sylviewong/run", "sylviewong"),
)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        *CONTINUED,
        *KUBERNETES,
        *TABLES,
        *CALLS,
        *COOKIES,
        *REFUSED,
        *PEOPLE,
        *DRAWN,
        *SHELLS,
        *CHINESE,
        *CUT,
        *LONG_CALLS,
        *NUMBERS,
        *FOLDERS,
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_a_secret_is_found_where_it_stands(text: str, hidden: str) -> None:
    """No piece of it is seen."""
    shown = hide(text)
    assert [piece for piece in hidden.split() if piece in shown] == [], shown


LOOK_ALIKES = (
    "dag.connect('node_a', 3, 'node_b', 'weights')",
    "frames: _ZN2at6native13BatchNorm2dE3fooILi4EEvPKT_ in libtorch.so",
    "collator = DataCollatorForSeq2Seq(tokenizer)",
    "--world_info=eyJub2RlLWEiOiBbMF0sICJub2RlLWIiOiBbMF19 --master_port=1",
    "from transformers import Qwen2VLForConditionalGeneration",
    "request id: chatcmpl-9AbQx7RtZk2LmVw5YpNs8Hd3",
    "integrity sha512-9AbQx7RtZk2LmVw5YpNs8Hd3Kc4Jg6",
    "etag: 'Qx7RtZk2LmVw5YpNs8Hd3Kc4'",
    "GPU-5f3aB2c1-9d8e-4f7a-b6c5-1a2b3c4d5e6f",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
    "root.bind('<Key-a>', 'callback')",
    "sock.bind('tcp', 'eth0')",
    "pool.get_session('train', 'default')",
    "optimizer.attach('relu', 'conv')",
    "total -> 18877210465 tokens",
    "params: 18877210465",
    "timestamp 202603011122334455",
    "/data/coco2017/annotations/instances.json",
    "/work/lib/python3.11/site-packages/x.py",
    "/usr/share/d/data/x",
    "/projects/v2/train/x",
    "密码用 bcrypt 加密",
    "令牌用 BPE32k 分词",
    "make_session('pg', '1.13.0')",
    "app.mount('static', 'dist-20260101')",
    "Revision('9f86d081884c7d659a2feaa0c55ad015')",
    "/x/y/yolo5/z",
    "ON gpu-node03 CANCELLED AT 2026-03-01T04:00:12 DUE TO TIME LIMIT",
    "token 是 模型 的输入",
    "the key is\nstep 300 reached",
    "sort key 是 length2026",
    "set -e\nexport CUDA_HOME /usr/local/cuda",
    "-e sort_key length",
    "tokens is\n4096",
    "url tcp://node1:29500\nloss@step=3",
    "graph.connect('conv1', 'relu1', 2, 'skip')",
    "model.connect('encoder', 'decoder', 'residual')",
    "net.connect('a', 'b', 'c', 'd')",
    "signal.connect('epoch_end', 'callback', 'last')",
    "dag.connect('load', 'tokenize', 2, 'train')",
    "builder.Connection('block1', 'block2', 3, 'add')",
    "GraphClient('train', 'val', 'test')",
    "pad_token:\n  content: '<pad>'\n  lstrip: false",
    "tokens:\n  4096",
    "api_key:\n  required: true",
    "password:\n  min_length: 8",
    "Loading tokenizer\n4096 tokens",
    "eos_token = (\n    '<eos>'\n)",
    "special = (\n    'one two'\n    'three four'\n)",
    "parser.add_argument('--token', help='the token '\n    'of the hub')",
    "| layer | params |\n| attn | 4096 |",
    "| token | count |\n|---|---|\n| the | 4096 |\n| of | 2048 |",
    "| key | value |\n| lr | 0.001 |\n| optimizer | adamw |",
    "key,value\nlr,0.001\nmodel,bert-base",
    "token,prob\nhello,0.25\nworld,0.75",
    "metric    value\nloss      0.25",
    "| epoch | pass | fail |\n| 1 | 31 | 2 |",
    "- name: NCCL_DEBUG\n  value: INFO\n- name: SORT_KEY\n  value: length",
    "- value: INFO\n  name: NCCL_DEBUG",
    "kind: ConfigMap\ndata:\n  lr: '0.001'\n  model: bert-base",
    "valueFrom: {secretKeyRef: {name: train-creds}}",
    "kind: SecretStore\ndata:\n  lr: 3",
    "max_tokens\n  Input should be valid [type=int_parsing, input_value='many', input_type=str]",
    "sort_key\n  bad value (type=value_error; given='length')",
    "num_tokens must be an integer, got 'many'",
    "KeyError: key mismatch, got 'encoder.weight'",
    "cookies = {'lang': 'zh', 'theme': 'dark'}",
    "cookie_file: cookies.txt (12 lines)",
    "用户 数量 4096",
    "total 13877210465 parameters",
    "样本总数：13877210465",
    "参数量 13015864320",
    "seen 13877210465 tokens",
    "已处理 13877210465 个 token",
    "微信数据集 wechat-corpus 已加载",
    "user embeddings cannot be loaded",
    "user model has 3 layers",
    "for user defined functions",
    "HF_TOKEN is not set\n4c1f9be3 fix warmup",
    "bf16 = (\n    'a'\n    'b'\n)",
    "missing key: encoder.self.key=\nlayer3",
    "auth: disabled\nA100-SXM4-80GB found",
    "attention(\n  'query',\n  'key',\n  'value')",
    "login('offline')",
    "trainer.fit(model, 'last.ckpt')",
    "x = \\\n  foo(bar)",
    "torchrun --nproc 2 \\\n  train.py --tokenizer bert \\\n  --epochs 3",
)


@pytest.mark.parametrize("text", LOOK_ALIKES, ids=lambda value: ascii(value)[:60])
def test_what_only_looks_alike_is_left(text: str) -> None:
    """Nothing of it is hidden."""
    assert hide(text) == "\n".join((BEFORE, text, *BEHIND))
