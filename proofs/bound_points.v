(* Made from the C code by proofs/constants.c; tests/proofs_constants.sh --write makes it anew. Each line has the
   arguments of a function and what it returns. *)
From Coq Require Import ZArith List.
From Tokitai Require Import dyadic bounds.
Import ListNotations.

Definition product_points : list (product_sum * dyadic * bool) :=
  (ProductSum f16 ieee false 10389448 743534 (Dyadic 23723579 (-3)) 2 (Dyadic 1276086483 (-16)), (Dyadic 1136328540852475 (-33)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 2746941 2746941 (Dyadic 1300588777 (-44)) 0 (Dyadic 0 0), (Dyadic 2456191168611991 (-67)), false) ::
  (ProductSum f32 ieee false 8 8 (Dyadic 153421653 101) 0 (Dyadic 0 0), (Dyadic 2573988211458057 56), true) ::
  (ProductSum f16 (tensor_core unit_unknown) false 1136000 1004860 (Dyadic 2062824585 (-33)) 1 (Dyadic 792726983 7), (Dyadic 4987396132664965 (-18)), false) ::
  (ProductSum bf16 ieee false 5 0 (Dyadic 0 0) 2 (Dyadic 194927672697097 74), (Dyadic 3118842763153563 46), false) ::
  (ProductSum f32 ieee false 14469171 4413410 (Dyadic 1592282695 95) 1 (Dyadic 860721071 73), (Dyadic 219606214590847 76), false) ::
  (ProductSum f16 ieee false 6464292 2761845 (Dyadic 726048701 100) 2 (Dyadic 1917861941899 85), (Dyadic 2166881408815923 76), true) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 1 1 (Dyadic 1283120983 (-60)) 0 (Dyadic 0 0), (Dyadic 281474976710657 (-197)), false) ::
  (ProductSum f32 ieee false 11 4 (Dyadic 859554777 97) 0 (Dyadic 0 0), (Dyadic 3605234039390221 53), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 4 4 (Dyadic 1823853927 (-22)) 0 (Dyadic 0 0), (Dyadic 836696636719107 (-62)), false) ::
  (ProductSum bf16 ieee false 11484061 6055419 (Dyadic 1575664661 (-32)) 2 (Dyadic 1012264473 (-8)), (Dyadic 766210887975019 (-29)), false) ::
  (ProductSum f32 ieee false 4 2 (Dyadic 125444917 101) 1 (Dyadic 1287190045 69), (Dyadic 789231177614687 56), false) ::
  (ProductSum f16 ieee false 14282886 9866454 (Dyadic 887777307 (-41)) 0 (Dyadic 0 0), (Dyadic 4379606536991051 (-64)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 10 7 (Dyadic 843311051 (-23)) 0 (Dyadic 0 0), (Dyadic 1436948058996741 (-64)), false) ::
  (ProductSum f32 ieee false 15 15 (Dyadic 2146755687 96) 1 (Dyadic 1022210843 78), (Dyadic 562760145023773 58), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 5 2 (Dyadic 1931461421 (-30)) 1 (Dyadic 1675036321 (-31)), (Dyadic 1633211034515467 (-71)), false) ::
  (ProductSum bf16 ieee false 3 2 (Dyadic 915813775 (-282)) 0 (Dyadic 0 0), (Dyadic 844425081126915 (-198)), false) ::
  (ProductSum f32 ieee false 6 6 (Dyadic 1839285737 (-236)) 0 (Dyadic 0 0), (Dyadic 844425232121859 (-197)), false) ::
  (ProductSum f16 ieee false 3 0 (Dyadic 0 0) 1 (Dyadic 71295075 12), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 4 4 (Dyadic 1975774843 (-27)) 0 (Dyadic 0 0), (Dyadic 3107625122660363 (-68)), false) ::
  (ProductSum f32 ieee false 18 8 (Dyadic 2012016061 10) 0 (Dyadic 0 0), (Dyadic 4219503506358287 (-32)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 18 9 (Dyadic 646711899 (-26)) 0 (Dyadic 0 0), (Dyadic 6442202473955351 (-68)), false) ::
  (ProductSum bf16 ieee false 18 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 2533277508304905 (-197)), false) ::
  (ProductSum f32 ieee false 6 2 (Dyadic 248853349 (-45)) 1 (Dyadic 1325924631 (-37)), (Dyadic 4174056147578895 (-81)), false) ::
  (ProductSum f16 ieee false 13 5 (Dyadic 228112337 (-36)) 1 (Dyadic 129859737 (-39)), (Dyadic 2562140973301769 (-81)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 17 16 (Dyadic 208949021 (-39)) 1 (Dyadic 358563275 (-31)), (Dyadic 6217806254829573 (-75)), false) ::
  (ProductSum f32 ieee false 2 2 (Dyadic 1747887065 (-12)) 0 (Dyadic 0 0), (Dyadic 3665584854138893 (-56)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 2171384 2171384 (Dyadic 594830169 5) 1 (Dyadic 2097370745 (-71)), (Dyadic 7749629921679157 (-20)), false) ::
  (ProductSum bf16 ieee false 18 11 (Dyadic 206613739 (-14)) 0 (Dyadic 0 0), (Dyadic 8666008319426591 (-60)), false) ::
  (ProductSum f32 ieee false 9 0 (Dyadic 0 0) 1 (Dyadic 444031397 83), (Dyadic 2533276300345353 (-198)), false) ::
  (ProductSum f16 ieee true 0 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 16 10 (Dyadic 361911281 (-55)) 0 (Dyadic 0 0), (Dyadic 853855837618179 (-95)), false) ::
  (ProductSum f32 ieee false 8112242 8112242 (Dyadic 673301149 97) 2 (Dyadic 404889908497 70), (Dyadic 5462007678090079 73), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 4 3 (Dyadic 1432759471 96) 0 (Dyadic 0 0), (Dyadic 281691974074369 57), false) ::
  (ProductSum bf16 ieee false 10176176 7968329 (Dyadic 1274971485 (-52)) 1 (Dyadic 1910013409 (-42)), (Dyadic 237961508106651 (-60)), false) ::
  (ProductSum f32 ieee false 9 9 (Dyadic 89400463 (-49)) 0 (Dyadic 0 0), (Dyadic 843688619016195 (-93)), false) ::
  (ProductSum f16 ieee false 8 1 (Dyadic 797077935 (-18)) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 6655037 4810538 (Dyadic 1339932291 (-23)) 1 (Dyadic 2043582653 (-28)), (Dyadic 3147987733894029 (-46)), false) ::
  (ProductSum f32 ieee false 15 15 (Dyadic 1032042017 (-4)) 1 (Dyadic 2003925229 (-90)), (Dyadic 8657395920142367 (-47)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 3 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 ieee false 3 3 (Dyadic 1695592093 96) 1 (Dyadic 1812723981 81), (Dyadic 5334045545030899 52), false) ::
  (ProductSum f32 ieee false 8 4 (Dyadic 26290943 104) 1 (Dyadic 738499745 89), (Dyadic 8829338828482591 54), true) ::
  (ProductSum f16 ieee false 4 0 (Dyadic 0 0) 2 (Dyadic 97699066890019 (-55)), (Dyadic 3126370140480619 (-84)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 17 15 (Dyadic 638430449 (-25)) 1 (Dyadic 1784498871 (-13)), (Dyadic 5964916237855693 (-53)), false) ::
  (ProductSum f32 ieee false 9 9 (Dyadic 1693679759 (-2)) 0 (Dyadic 0 0), (Dyadic 1997945940344839 (-43)), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 10141272 8412737 (Dyadic 844547025 100) 0 (Dyadic 0 0), (Dyadic 5158372458475443 77), false) ::
  (ProductSum bf16 ieee false 11345640 6144931 (Dyadic 2060482675 (-18)) 2 (Dyadic 6195023026898079 (-80)), (Dyadic 6330762962530699 (-41)), false) ::
  (ProductSum f32 ieee false 19 19 (Dyadic 473365765 98) 2 (Dyadic 500482462555 87), (Dyadic 1975593378225607 57), false) ::
  (ProductSum f16 ieee false 1632552 26764 (Dyadic 525579565 (-55)) 2 (Dyadic 1412042853 (-4)), (Dyadic 2418772925474889 (-34)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 12501980 11153908 (Dyadic 385785761 (-244)) 0 (Dyadic 0 0), (Dyadic 838993675550723 (-177)), false) ::
  (ProductSum f32 ieee false 6 0 (Dyadic 0 0) 1 (Dyadic 862483105 7), (Dyadic 844425282453507 (-197)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 15 13 (Dyadic 1374983585 (-32)) 0 (Dyadic 0 0), (Dyadic 8290205028843549 (-75)), false) ::
  (ProductSum bf16 ieee false 15542312 2491167 (Dyadic 955277061 (-16)) 0 (Dyadic 0 0), (Dyadic 4759507469886269 (-41)), false) ::
  (ProductSum f32 ieee false 14114683 14114683 (Dyadic 76370035 (-191)) 0 (Dyadic 0 0), (Dyadic 1744117446614035 (-176)), false) ::
  (ProductSum f16 ieee false 12489354 7226184 (Dyadic 988899127 100) 1 (Dyadic 2037518559 81), (Dyadic 7145995131958491 76), true) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 8385026 8385026 (Dyadic 287422943 101) 0 (Dyadic 0 0), (Dyadic 3615073562500233 78), true) ::
  (ProductSum f32 ieee false 19 19 (Dyadic 394723409 (-34)) 1 (Dyadic 862546483 (-86)), (Dyadic 8277949866311713 (-78)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 0 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 ieee false 1252721 1252721 (Dyadic 1078006921 99) 0 (Dyadic 0 0), (Dyadic 5401763320300499 73), true) ::
  (ProductSum f32 ieee false 5 5 (Dyadic 1692985111 (-41)) 1 (Dyadic 255577123 8), (Dyadic 6431808895844451 (-38)), false) ::
  (ProductSum f16 ieee false 18 6 (Dyadic 1141407231 96) 1 (Dyadic 361521019 74), (Dyadic 3590556957099945 53), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 19 17 (Dyadic 77263915 101) 1 (Dyadic 1867249093 73), (Dyadic 8911881041247841 56), false) ::
  (ProductSum f32 ieee false 5550383 1439337 (Dyadic 535745387 99) 0 (Dyadic 0 0), (Dyadic 3084472632353687 73), true) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 11644784 9482639 (Dyadic 1158799637 96) 1 (Dyadic 1489654009 88), (Dyadic 8064654684589275 73), false) ::
  (ProductSum bf16 ieee false 15 10 (Dyadic 1806992515 (-13)) 1 (Dyadic 499512393 (-53)), (Dyadic 592115307315351 (-52)), false) ::
  (ProductSum f32 ieee false 11926175 1746176 (Dyadic 500238369 (-42)) 0 (Dyadic 0 0), (Dyadic 6988033873815577 (-69)), false) ::
  (ProductSum f16 ieee false 16 8 (Dyadic 1255060013 (-10)) 1 (Dyadic 524660683 (-6)), (Dyadic 2529592853397513 (-49)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 3659111 2976148 (Dyadic 1741341341 (-52)) 0 (Dyadic 0 0), (Dyadic 4184185523904547 (-74)), false) ::
  (ProductSum f32 ieee false 17 8 (Dyadic 1400768781 (-27)) 0 (Dyadic 0 0), (Dyadic 5875250101223445 (-70)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 18 6 (Dyadic 1804582153 (-32)) 1 (Dyadic 782023309 (-29)), (Dyadic 189847248731495 (-67)), false) ::
  (ProductSum bf16 ieee false 16 11 (Dyadic 1095053083 (-11)) 1 (Dyadic 1279376671 (-10)), (Dyadic 5268028873113619 (-52)), false) ::
  (ProductSum f32 ieee false 14678229 13042780 (Dyadic 658023575 (-20)) 0 (Dyadic 0 0), (Dyadic 4291228361769265 (-43)), false) ::
  (ProductSum f16 ieee false 17 13 (Dyadic 1756399851 (-15)) 1 (Dyadic 802669375 (-38)), (Dyadic 5985586199111527 (-57)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) true 10 10 (Dyadic 280378965 98) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f32 ieee true 3786758 3110577 (Dyadic 239547449 (-57)) 1 (Dyadic 783786729 (-46)), (Dyadic 0 0), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 16 13 (Dyadic 1696148511 (-37)) 1 (Dyadic 2070178221 (-49)), (Dyadic 555959616333293 (-75)), false) ::
  (ProductSum bf16 ieee false 15 15 (Dyadic 260881225 99) 1 (Dyadic 1600417355 91), (Dyadic 4201636513075215 55), false) ::
  (ProductSum f32 ieee false 12734729 7271924 (Dyadic 229727283 0) 0 (Dyadic 0 0), (Dyadic 835279671351249 (-23)), false) ::
  (ProductSum f16 ieee false 12 4 (Dyadic 730790217 (-29)) 1 (Dyadic 1080965267 (-37)), (Dyadic 3082866865258507 (-73)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 1 1 (Dyadic 725188955 (-7)) 0 (Dyadic 0 0), (Dyadic 281474976710657 (-197)), false) ::
  (ProductSum f32 ieee false 3 3 (Dyadic 1885696699 97) 0 (Dyadic 0 0), (Dyadic 5931888905551893 53), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 0 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 ieee false 18 3 (Dyadic 642109465 100) 1 (Dyadic 1308894175 82), (Dyadic 8079669719382509 54), true) ::
  (ProductSum f32 ieee false 17 13 (Dyadic 1517626121 (-44)) 0 (Dyadic 0 0), (Dyadic 2585937782112265 (-85)), false) ::
  (ProductSum f16 ieee false 0 0 (Dyadic 0 0) 1 (Dyadic 699559569 90), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 8 8 (Dyadic 488180981 5) 0 (Dyadic 0 0), (Dyadic 831829148041219 (-37)), false) ::
  (ProductSum f32 ieee false 11 0 (Dyadic 0 0) 2 (Dyadic 50871178743877 (-6)), (Dyadic 6511510879216279 (-37)), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 8 3 (Dyadic 931703103 (-7)) 0 (Dyadic 0 0), (Dyadic 5861769077587989 (-51)), false) ::
  (ProductSum bf16 ieee false 13844710 13844710 (Dyadic 1407222881 (-8)) 0 (Dyadic 0 0), (Dyadic 2435323910698337 (-29)), false) ::
  (ProductSum f32 ieee false 9 3 (Dyadic 1391529291 (-17)) 1 (Dyadic 312859919 11), (Dyadic 656114815722013 (-32)), false) ::
  (ProductSum f16 ieee false 1588324 360966 (Dyadic 79626321 (-34)) 1 (Dyadic 1145280597 (-21)), (Dyadic 6614573833116681 (-49)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 17 16 (Dyadic 763486905 (-46)) 0 (Dyadic 0 0), (Dyadic 2501793890304009 (-87)), false) ::
  (ProductSum f32 ieee false 11087173 2600954 (Dyadic 1486729083 (-48)) 0 (Dyadic 0 0), (Dyadic 7733827910690391 (-73)), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 16 16 (Dyadic 1011739929 96) 0 (Dyadic 0 0), (Dyadic 5834874142851093 54), false) ::
  (ProductSum bf16 ieee false 5691883 1584041 (Dyadic 1613521117 (-49)) 1 (Dyadic 2098194251 (-83)), (Dyadic 5111767207774533 (-74)), false) ::
  (ProductSum f32 ieee false 15159493 5323190 (Dyadic 1120449753 97) 0 (Dyadic 0 0), (Dyadic 5964366920672091 73), false) ::
  (ProductSum f16 ieee false 12354783 8557750 (Dyadic 172749617 (-17)) 2 (Dyadic 6669899134250247 (-78)), (Dyadic 2956696415312253 (-42)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 9611663 9611663 (Dyadic 1652336685 (-10)) 0 (Dyadic 0 0), (Dyadic 1612985563949431 (-31)), false) ::
  (ProductSum f32 ieee false 5 4 (Dyadic 680555961 1) 1 (Dyadic 523580429 (-8)), (Dyadic 7146869400801305 (-44)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 1 1 (Dyadic 1555347555 95) 1 (Dyadic 1824136559 89), (Dyadic 6643148965679157 51), false) ::
  (ProductSum bf16 ieee false 12 12 (Dyadic 898918887 (-26)) 0 (Dyadic 0 0), (Dyadic 2592108119851017 (-68)), false) ::
  (ProductSum f32 ieee false 15 3 (Dyadic 2083952257 (-4)) 1 (Dyadic 256849021 (-41)), (Dyadic 8740729287351997 (-48)), false) ::
  (ProductSum f16 ieee false 0 0 (Dyadic 0 0) 1 (Dyadic 1048168451 (-10)), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 13 10 (Dyadic 1557536565 97) 1 (Dyadic 331449761 94), (Dyadic 4610758571282805 55), false) ::
  (ProductSum f32 ieee false 11695243 4829346 (Dyadic 121396769 103) 0 (Dyadic 0 0), (Dyadic 4690136006264609 76), true) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 9 1 (Dyadic 211395391 (-49)) 1 (Dyadic 1619452087 (-31)), (Dyadic 106132494870927 (-69)), false) ::
  (ProductSum bf16 ieee false 18 6 (Dyadic 1793655183 (-6)) 1 (Dyadic 1455576989 (-8)), (Dyadic 848382956765187 (-46)), false) ::
  (ProductSum f32 ieee false 16 15 (Dyadic 172808339 1) 2 (Dyadic 2454654560644009 (-54)), (Dyadic 6160891016187953 (-44)), false) ::
  (ProductSum f16 ieee false 7 3 (Dyadic 1088129837 5) 1 (Dyadic 812812831 (-48)), (Dyadic 855740123971587 (-37)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 5 2 (Dyadic 1844374539 (-50)) 0 (Dyadic 0 0), (Dyadic 4834917191516177 (-93)), false) ::
  (ProductSum f32 ieee false 2 1 (Dyadic 877488001 (-14)) 1 (Dyadic 1209624097 (-59)), (Dyadic 3680451432546461 (-59)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 15 5 (Dyadic 594193821 98) 0 (Dyadic 0 0), (Dyadic 4672930350366737 54), false) ::
  (ProductSum bf16 ieee false 6 3 (Dyadic 1861904763 (-57)) 0 (Dyadic 0 0), (Dyadic 1952348648767495 (-100)), false) ::
  (ProductSum f32 ieee false 7 5 (Dyadic 823324903 97) 1 (Dyadic 33003375 97), (Dyadic 5387551682592787 53), false) ::
  (ProductSum f16 ieee false 14 8 (Dyadic 978537209 (-35)) 0 (Dyadic 0 0), (Dyadic 3591247213625357 (-78)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 19 11 (Dyadic 1546533433 97) 0 (Dyadic 0 0), (Dyadic 8108289205207069 55), false) ::
  (ProductSum f32 ieee false 0 0 (Dyadic 0 0) 1 (Dyadic 176787025 3), (Dyadic 0 0), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 12687149 11717895 (Dyadic 817036751 (-20)) 0 (Dyadic 0 0), (Dyadic 8026309632655587 (-44)), false) ::
  (ProductSum bf16 ieee false 1 1 (Dyadic 1863869145 95) 2 (Dyadic 9234042041 69), (Dyadic 977204298434717 53), false) ::
  (ProductSum f32 ieee false 1870002 161286 (Dyadic 948770391 (-44)) 0 (Dyadic 0 0), (Dyadic 4896748201050449 (-73)), false) ::
  (ProductSum f16 ieee false 16416373 5100858 (Dyadic 448861395 9) 2 (Dyadic 2216437611 (-8)), (Dyadic 2289664942356709 (-15)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 14 14 (Dyadic 313303261 100) 1 (Dyadic 1817788805 90), (Dyadic 6938058323722679 56), true) ::
  (ProductSum f32 ieee true 16 3 (Dyadic 880826467 (-42)) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 8 2 (Dyadic 154873925 (-4)) 1 (Dyadic 306454283 (-83)), (Dyadic 3897530751827505 (-50)), false) ::
  (ProductSum bf16 ieee false 10 1 (Dyadic 1612694387 (-31)) 0 (Dyadic 0 0), (Dyadic 1407375722414085 (-197)), false) ::
  (ProductSum f32 ieee false 12 7 (Dyadic 1087503065 (-53)) 1 (Dyadic 1602941191 (-12)), (Dyadic 3361611324589081 (-54)), false) ::
  (ProductSum f16 ieee false 11381498 7452453 (Dyadic 1437740369 98) 1 (Dyadic 1284048007 96), (Dyadic 3276754845413249 76), true) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 7404111 4818984 (Dyadic 2118195419 (-284)) 1 (Dyadic 1517807989 (-56)), (Dyadic 2882138062105619 (-78)), false) ::
  (ProductSum f32 ieee true 6198902 2473121 (Dyadic 544668517 3) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 8922622 7157792 (Dyadic 1261606293 95) 1 (Dyadic 1877737831 90), (Dyadic 6933993173803635 72), false) ::
  (ProductSum bf16 ieee false 19 19 (Dyadic 1883469831 5) 0 (Dyadic 0 0), (Dyadic 277728927399937 (-32)), false) ::
  (ProductSum f32 ieee false 5 4 (Dyadic 1784936821 (-245)) 1 (Dyadic 915154313 (-9)), (Dyadic 4798044244541457 (-53)), false) ::
  (ProductSum f16 ieee true 8 2 (Dyadic 137833811 (-37)) 1 (Dyadic 793307123 3), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 10 10 (Dyadic 1374409959 (-14)) 0 (Dyadic 0 0), (Dyadic 1441173297168389 (-53)), false) ::
  (ProductSum f32 ieee false 2413124 475758 (Dyadic 839078933 (-36)) 1 (Dyadic 1872089003 (-28)), (Dyadic 3568890257820701 (-54)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 3561525 2002741 (Dyadic 1892997173 (-58)) 1 (Dyadic 501923625 (-44)), (Dyadic 7597872211431627 (-69)), false) ::
  (ProductSum bf16 ieee true 19 15 (Dyadic 2096497103 (-43)) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f32 ieee false 19 19 (Dyadic 1606571311 97) 0 (Dyadic 0 0), (Dyadic 2000476891316231 57), false) ::
  (ProductSum f16 ieee false 18 18 (Dyadic 1215328397 (-39)) 0 (Dyadic 0 0), (Dyadic 5416047804153875 (-81)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 10 10 (Dyadic 1700927791 (-38)) 1 (Dyadic 241547655 6), (Dyadic 8358276162993041 (-38)), false) ::
  (ProductSum f32 ieee false 1591016 420084 (Dyadic 1059791009 (-39)) 1 (Dyadic 515969075 (-83)), (Dyadic 3561618448126231 (-66)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 2 2 (Dyadic 1191405247 99) 1 (Dyadic 1520885177 75), (Dyadic 5621756588555487 56), true) ::
  (ProductSum bf16 ieee false 10285714 4075758 (Dyadic 1021815439 (-29)) 2 (Dyadic 4806643363610659 (-20)), (Dyadic 4670791615762857 (-22)), false) ::
  (ProductSum f32 ieee false 1819193 372207 (Dyadic 2125211755 (-22)) 1 (Dyadic 870148675 (-79)), (Dyadic 3164083267620171 (-48)), false) ::
  (ProductSum f16 ieee false 8066947 6426383 (Dyadic 1164715065 96) 1 (Dyadic 478677545 85), (Dyadic 3743203563683689 73), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 3 0 (Dyadic 0 0) 1 (Dyadic 730259801 (-6)), (Dyadic 0 0), false) ::
  (ProductSum f32 ieee false 2644418 1296732 (Dyadic 1295358033 3) 1 (Dyadic 1008588573 (-62)), (Dyadic 1679733508206195 (-21)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 9 7 (Dyadic 1523749741 97) 2 (Dyadic 13412024615 66), (Dyadic 4194140630911399 55), false) ::
  (ProductSum bf16 ieee false 3065469 3065469 (Dyadic 1021747291 (-9)) 1 (Dyadic 731492839 (-26)), (Dyadic 6264303508618779 (-34)), false) ::
  (ProductSum f32 ieee false 16 9 (Dyadic 1493357543 (-17)) 2 (Dyadic 1839863202578633 (-55)), (Dyadic 8612482436414459 (-60)), false) ::
  (ProductSum f16 ieee false 12987272 8246575 (Dyadic 924399695 (-242)) 0 (Dyadic 0 0), (Dyadic 7623130490394957 (-266)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 7 2 (Dyadic 631725367 (-12)) 1 (Dyadic 1167576205 (-60)), (Dyadic 3974473179704125 (-56)), false) ::
  (ProductSum f32 ieee true 6470189 2511133 (Dyadic 1487542923 96) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 7794336 1913311 (Dyadic 1797861593 97) 1 (Dyadic 215498159 89), (Dyadic 3050948718311771 74), true) ::
  (ProductSum bf16 ieee true 1262111 366315 (Dyadic 1975699139 95) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f32 ieee false 13596352 2650136 (Dyadic 331809113 100) 1 (Dyadic 1581036245 89), (Dyadic 881385487499273 76), true) ::
  (ProductSum f16 ieee false 12 12 (Dyadic 1734588427 4) 2 (Dyadic 2131516223 (-19)), (Dyadic 5911256197825831 (-38)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 5911786 1023433 (Dyadic 2029425865 97) 0 (Dyadic 0 0), (Dyadic 4787723073553565 73), true) ::
  (ProductSum f32 ieee false 8 3 (Dyadic 365971287 (-3)) 0 (Dyadic 0 0), (Dyadic 287811531177985 (-45)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 10 10 (Dyadic 1282458453 (-5)) 0 (Dyadic 0 0), (Dyadic 5379020619251731 (-46)), false) ::
  (ProductSum bf16 ieee false 11662015 11662015 (Dyadic 458183225 (-41)) 2 (Dyadic 8391930963251237 (-63)), (Dyadic 1792288212818203 (-61)), false) ::
  (ProductSum f32 ieee false 14065148 560434 (Dyadic 234834447 99) 1 (Dyadic 1794670467 86), (Dyadic 4215431076926525 70), false) ::
  (ProductSum f16 ieee false 13371325 11634798 (Dyadic 1880388017 (-24)) 0 (Dyadic 0 0), (Dyadic 2734741607378453 (-45)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 12060202 9021564 (Dyadic 1198800875 (-11)) 2 (Dyadic 6551639037 (-53)), (Dyadic 507397925434979 (-30)), false) ::
  (ProductSum f32 ieee false 3 3 (Dyadic 1489801673 99) 0 (Dyadic 0 0), (Dyadic 4686510837202961 55), true) ::
  (ProductSum f16 (tensor_core unit_unknown) false 7 6 (Dyadic 67593235 103) 1 (Dyadic 2002385063 83), (Dyadic 5953806903304177 57), true) ::
  (ProductSum bf16 ieee false 17 11 (Dyadic 1955029779 99) 0 (Dyadic 0 0), (Dyadic 2562496631930889 58), true) ::
  (ProductSum f32 ieee true 5 5 (Dyadic 323390107 101) 1 (Dyadic 739913699 76), (Dyadic 0 0), true) ::
  (ProductSum f16 ieee false 15649424 15171112 (Dyadic 1593852771 98) 2 (Dyadic 7587305229687027 71), (Dyadic 1564883807485271 78), true) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 2 2 (Dyadic 1815322969 (-221)) 2 (Dyadic 6564382809001829 (-48)), (Dyadic 1128253772154791 (-67)), false) ::
  (ProductSum f32 ieee false 4519468 3585623 (Dyadic 275020639 (-48)) 2 (Dyadic 274727942254205 (-27)), (Dyadic 7515498183789883 (-34)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 14463657 14463657 (Dyadic 1291046531 (-23)) 0 (Dyadic 0 0), (Dyadic 1896502732243279 (-44)), false) ::
  (ProductSum bf16 ieee false 12 10 (Dyadic 1364824195 0) 1 (Dyadic 1178140337 (-62)), (Dyadic 7155609475481625 (-43)), false) ::
  (ProductSum f32 ieee false 11978110 9861369 (Dyadic 1970590797 (-12)) 1 (Dyadic 605813607 (-77)), (Dyadic 4858181241952989 (-34)), false) ::
  (ProductSum f16 ieee false 5 4 (Dyadic 86784457 (-9)) 0 (Dyadic 0 0), (Dyadic 8736009483190303 (-58)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 12237279 8791827 (Dyadic 1568358579 97) 1 (Dyadic 165715207 88), (Dyadic 5247559284455575 75), true) ::
  (ProductSum f32 ieee false 1 1 (Dyadic 1248660879 (-27)) 0 (Dyadic 0 0), (Dyadic 5237263319433235 (-73)), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 7711295 2923013 (Dyadic 1140769223 (-29)) 1 (Dyadic 336074451 (-44)), (Dyadic 6633347871931843 (-53)), false) ::
  (ProductSum bf16 ieee false 14020710 8320557 (Dyadic 1995823397 (-30)) 1 (Dyadic 1635555703 (-34)), (Dyadic 8728454120007551 (-53)), false) ::
  (ProductSum f32 ieee false 7575530 7575530 (Dyadic 1021402429 99) 2 (Dyadic 989637231014025 70), (Dyadic 968953886194833 78), true) ::
  (ProductSum f16 ieee true 13841207 361973 (Dyadic 1779588613 5) 2 (Dyadic 7841939589573605 (-21)), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 9 9 (Dyadic 1719360219 9) 1 (Dyadic 1363137167 (-6)), (Dyadic 3493164554143477 (-31)), false) ::
  (ProductSum f32 ieee false 12 12 (Dyadic 480100825 98) 2 (Dyadic 296451277375 88), (Dyadic 1412229543737605 57), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 16 13 (Dyadic 329045455 (-9)) 0 (Dyadic 0 0), (Dyadic 1983917710376967 (-52)), false) ::
  (ProductSum bf16 ieee true 1483548 1483548 (Dyadic 188185085 2) 1 (Dyadic 1367483713 (-12)), (Dyadic 0 0), false) ::
  (ProductSum f32 ieee false 4730158 3741817 (Dyadic 1764744851 (-39)) 0 (Dyadic 0 0), (Dyadic 3301676142067145 (-62)), false) ::
  (ProductSum f16 ieee false 10701225 2449655 (Dyadic 776065687 99) 1 (Dyadic 602327239 77), (Dyadic 7604374169092635 73), true) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 6 5 (Dyadic 1901512269 6) 1 (Dyadic 1786969945 (-18)), (Dyadic 140194726705083 (-31)), false) ::
  (ProductSum f32 ieee false 10 7 (Dyadic 1543836359 (-18)) 2 (Dyadic 7696516269473801 (-61)), (Dyadic 3642369010809809 (-60)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 15354817 15354817 (Dyadic 1638865479 (-4)) 0 (Dyadic 0 0), (Dyadic 1277883949569935 (-24)), false) ::
  (ProductSum bf16 ieee false 7036824 3543140 (Dyadic 362588095 (-203)) 1 (Dyadic 2084925273 (-22)), (Dyadic 3693591065888623 (-45)), false) ::
  (ProductSum f32 ieee false 0 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f16 ieee false 19 5 (Dyadic 1911902687 6) 0 (Dyadic 0 0), (Dyadic 2004775271923719 (-36)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 3 3 (Dyadic 2040466319 (-40)) 0 (Dyadic 0 0), (Dyadic 4279168021823503 (-83)), false) ::
  (ProductSum f32 ieee false 6 5 (Dyadic 914548931 99) 0 (Dyadic 0 0), (Dyadic 4794870299361297 55), true) ::
  (ProductSum f16 (tensor_core unit_unknown) true 8 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 ieee false 12996688 470580 (Dyadic 484306699 100) 0 (Dyadic 0 0), (Dyadic 3646472993739549 72), true) ::
  (ProductSum f32 ieee false 838216 838216 (Dyadic 1270164541 (-57)) 0 (Dyadic 0 0), (Dyadic 4258688963595439 (-83)), false) ::
  (ProductSum f16 ieee false 17 9 (Dyadic 1776209399 (-3)) 0 (Dyadic 0 0), (Dyadic 3724981093531661 (-45)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 10922432 10922432 (Dyadic 490643713 8) 0 (Dyadic 0 0), (Dyadic 8038533887205053 (-15)), false) ::
  (ProductSum f32 ieee true 10 2 (Dyadic 1244890015 (-4)) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 8 2 (Dyadic 433898033 (-28)) 1 (Dyadic 1635142999 (-58)), (Dyadic 5914676610143647 (-72)), false) ::
  (ProductSum bf16 ieee false 9 0 (Dyadic 0 0) 1 (Dyadic 879140281 90), (Dyadic 2533276300345353 (-198)), false) ::
  (ProductSum f32 ieee false 2361278 1679316 (Dyadic 687221459 (-46)) 0 (Dyadic 0 0), (Dyadic 18032218619407 (-64)), false) ::
  (ProductSum f16 ieee false 15 2 (Dyadic 1840572685 97) 1 (Dyadic 123175195 79), (Dyadic 7719923345789387 52), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 7 7 (Dyadic 343961251 0) 0 (Dyadic 0 0), (Dyadic 1983682320007175 (-42)), false) ::
  (ProductSum f32 ieee false 1 0 (Dyadic 0 0) 1 (Dyadic 938877603 (-4)), (Dyadic 281475010265089 (-198)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) true 16 16 (Dyadic 234394991 (-250)) 2 (Dyadic 48741261917 (-13)), (Dyadic 0 0), false) ::
  (ProductSum bf16 ieee false 1 1 (Dyadic 159851465 (-6)) 1 (Dyadic 1561034215 (-25)), (Dyadic 5363825018632659 (-55)), false) ::
  (ProductSum f32 ieee false 17 3 (Dyadic 950909569 (-40)) 0 (Dyadic 0 0), (Dyadic 5982605713342485 (-85)), false) ::
  (ProductSum f16 ieee false 14 10 (Dyadic 102911835 (-23)) 1 (Dyadic 954675393 (-64)), (Dyadic 8632870423793249 (-70)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 10 8 (Dyadic 107586291 (-6)) 0 (Dyadic 0 0), (Dyadic 3158747274805259 (-50)), false) ::
  (ProductSum f32 ieee false 8 3 (Dyadic 327310195 98) 2 (Dyadic 12654317443 85), (Dyadic 6896587353300505 52), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 12 8 (Dyadic 353441881 (-9)) 0 (Dyadic 0 0), (Dyadic 833874016075779 (-51)), false) ::
  (ProductSum bf16 ieee false 1 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 281474993487873 (-198)), false) ::
  (ProductSum f32 ieee false 18 17 (Dyadic 751506781 (-7)) 0 (Dyadic 0 0), (Dyadic 837262722793475 (-47)), false) ::
  (ProductSum f16 ieee false 751880 751880 (Dyadic 1041208943 (-150)) 1 (Dyadic 532688613 (-26)), (Dyadic 6408286629479063 (-54)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 6585827 5718125 (Dyadic 1782789469 10) 1 (Dyadic 891104591 (-40)), (Dyadic 1824643457575191 (-11)), false) ::
  (ProductSum f32 ieee true 6926799 4802132 (Dyadic 1505061211 (-53)) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 5 5 (Dyadic 1648129833 95) 1 (Dyadic 155131047 75), (Dyadic 3888427089571377 53), false) ::
  (ProductSum bf16 ieee false 3 3 (Dyadic 999971361 98) 1 (Dyadic 391354891 70), (Dyadic 3145637914082009 54), false) ::
  (ProductSum f32 ieee false 13 13 (Dyadic 1664417099 (-240)) 2 (Dyadic 2071734217 4), (Dyadic 8146390418718749 (-38)), false) ::
  (ProductSum f16 ieee false 5 4 (Dyadic 1730543249 (-6)) 1 (Dyadic 1394935119 (-10)), (Dyadic 7624098343288859 (-50)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 16419096 14489020 (Dyadic 127015919 99) 1 (Dyadic 1639734469 79), (Dyadic 1311213111407509 76), false) ::
  (ProductSum f32 ieee false 10 10 (Dyadic 835004661 (-32)) 1 (Dyadic 86991131 (-71)), (Dyadic 4815612160770977 (-75)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 11418509 11418509 (Dyadic 2005506083 (-40)) 0 (Dyadic 0 0), (Dyadic 581442559453839 (-59)), false) ::
  (ProductSum bf16 ieee false 9 6 (Dyadic 1139804809 (-14)) 0 (Dyadic 0 0), (Dyadic 5975859837009941 (-58)), false) ::
  (ProductSum f32 ieee true 13 9 (Dyadic 1743389791 (-53)) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f16 ieee false 15810350 15810350 (Dyadic 2034608259 (-157)) 1 (Dyadic 281872279 (-1)), (Dyadic 2228249693143833 (-24)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 4 4 (Dyadic 828094637 99) 1 (Dyadic 1090710553 86), (Dyadic 705623656180581 59), true) ::
  (ProductSum f32 ieee false 19 7 (Dyadic 1423165483 (-25)) 1 (Dyadic 1099386825 (-83)), (Dyadic 5969188678008853 (-68)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 10108562 5886583 (Dyadic 133787461 (-255)) 0 (Dyadic 0 0), (Dyadic 6531203091807695 (-282)), false) ::
  (ProductSum bf16 ieee false 2609770 1458230 (Dyadic 1523760107 2) 1 (Dyadic 220507269 13), (Dyadic 5162164355957177 (-15)), false) ::
  (ProductSum f32 ieee false 1 1 (Dyadic 655423013 96) 1 (Dyadic 252242943 74), (Dyadic 2749043617360905 51), false) ::
  (ProductSum f16 ieee false 8466790 1673110 (Dyadic 1638938843 9) 0 (Dyadic 0 0), (Dyadic 5484246657345793 (-16)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 6 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f32 ieee false 0 0 (Dyadic 0 0) 2 (Dyadic 273139909707327 (-62)), (Dyadic 8740477110634495 (-91)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 19 19 (Dyadic 523935629 97) 2 (Dyadic 177374108735 80), (Dyadic 4131040499747123 56), false) ::
  (ProductSum bf16 ieee false 9 9 (Dyadic 1540364777 (-19)) 1 (Dyadic 2108862131 (-20)), (Dyadic 3060945726013451 (-60)), false) ::
  (ProductSum f32 ieee false 8 5 (Dyadic 1299907717 97) 2 (Dyadic 39715624487 77), (Dyadic 4770821124599193 54), false) ::
  (ProductSum f16 ieee false 9 8 (Dyadic 1927886781 95) 0 (Dyadic 0 0), (Dyadic 7075375332458521 52), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 5425466 4229851 (Dyadic 490627241 (-19)) 1 (Dyadic 1413673113 (-81)), (Dyadic 7477918108275419 (-45)), false) ::
  (ProductSum f32 ieee false 4 4 (Dyadic 1878756283 (-48)) 1 (Dyadic 290260283 (-86)), (Dyadic 4925046870510305 (-91)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 5 5 (Dyadic 1176622653 10) 1 (Dyadic 476034477 (-41)), (Dyadic 2930223715646865 (-31)), false) ::
  (ProductSum bf16 ieee false 1041067 857857 (Dyadic 1802867845 95) 0 (Dyadic 0 0), (Dyadic 3093201996080651 70), false) ::
  (ProductSum f32 ieee false 10 8 (Dyadic 1664156201 10) 1 (Dyadic 728338403 (-17)), (Dyadic 7852474162394667 (-33)), false) ::
  (ProductSum f16 ieee true 11700142 1077715 (Dyadic 554103193 (-36)) 1 (Dyadic 1642160437 (-33)), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 8 8 (Dyadic 1568183471 (-211)) 0 (Dyadic 0 0), (Dyadic 4503599627370513 (-201)), false) ::
  (ProductSum f32 ieee false 7 3 (Dyadic 530032543 (-2)) 1 (Dyadic 1195375993 (-59)), (Dyadic 277889701904385 (-43)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 3 0 (Dyadic 0 0) 1 (Dyadic 2056905145 69), (Dyadic 0 0), false) ::
  (ProductSum bf16 ieee false 12 12 (Dyadic 1559685591 99) 1 (Dyadic 761646249 75), (Dyadic 4906346777613937 57), true) ::
  (ProductSum f32 ieee false 1 1 (Dyadic 638484651 (-217)) 0 (Dyadic 0 0), (Dyadic 281474993487873 (-198)), false) ::
  (ProductSum f16 ieee false 7 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 5 4 (Dyadic 1220264349 98) 1 (Dyadic 381294857 90), (Dyadic 3523030440502257 55), true) ::
  (ProductSum f32 ieee false 15281835 6422929 (Dyadic 1531204375 (-34)) 2 (Dyadic 2791001894895 (-3)), (Dyadic 8753131148332265 (-16)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 12 1 (Dyadic 1135932897 95) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 ieee false 4 4 (Dyadic 445971671 (-12)) 1 (Dyadic 589216743 (-68)), (Dyadic 7482163054247963 (-58)), false) ::
  (ProductSum f32 ieee false 12251486 1714439 (Dyadic 805938031 (-13)) 0 (Dyadic 0 0), (Dyadic 690865795964807 (-36)), false) ::
  (ProductSum f16 ieee false 8 5 (Dyadic 346376105 8) 2 (Dyadic 3475994742620161 (-40)), (Dyadic 8716840407013699 (-38)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 6185787 5009348 (Dyadic 627461623 (-276)) 1 (Dyadic 895705217 (-11)), (Dyadic 6564642736486929 (-35)), false) ::
  (ProductSum f32 ieee false 18 18 (Dyadic 890655935 96) 1 (Dyadic 2061068729 69), (Dyadic 8872244311106297 53), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 18 1 (Dyadic 2067901383 95) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 ieee false 3 2 (Dyadic 249489943 (-7)) 0 (Dyadic 0 0), (Dyadic 4185746663538703 (-55)), false) ::
  (ProductSum f32 ieee false 15 4 (Dyadic 867762911 (-17)) 1 (Dyadic 1014543841 2), (Dyadic 5319140290731209 (-42)), false) ::
  (ProductSum f16 ieee false 2 2 (Dyadic 1053991673 99) 0 (Dyadic 0 0), (Dyadic 8841522980061215 52), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 11042973 6481173 (Dyadic 1872393741 99) 0 (Dyadic 0 0), (Dyadic 1404606708234055 80), true) ::
  (ProductSum f32 ieee false 10484584 10484584 (Dyadic 130347 (-205)) 0 (Dyadic 0 0), (Dyadic 285828632091201 (-174)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 13 3 (Dyadic 818892075 98) 2 (Dyadic 45924679152759 73), (Dyadic 228465654674473 59), false) ::
  (ProductSum bf16 ieee false 17 15 (Dyadic 978275725 (-59)) 0 (Dyadic 0 0), (Dyadic 3590287563161613 (-101)), false) ::
  (ProductSum f32 ieee false 6624394 6624394 (Dyadic 907629455 (-59)) 1 (Dyadic 387561789 1), (Dyadic 320920297155333 (-20)), false) ::
  (ProductSum f16 ieee false 14169676 11618860 (Dyadic 958702661 96) 1 (Dyadic 887666085 95), (Dyadic 4073966495992017 74), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 13007154 1755733 (Dyadic 245627277 (-49)) 1 (Dyadic 1902908189 3), (Dyadic 5011498829532671 (-19)), false) ::
  (ProductSum f32 ieee false 18 18 (Dyadic 400312411 99) 0 (Dyadic 0 0), (Dyadic 7555643760181275 55), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 15238168 3307018 (Dyadic 1074684669 7) 0 (Dyadic 0 0), (Dyadic 4847543059837237 (-16)), false) ::
  (ProductSum bf16 ieee false 11 7 (Dyadic 1823015465 (-55)) 0 (Dyadic 0 0), (Dyadic 1433677698170885 (-96)), false) ::
  (ProductSum f32 ieee false 10 10 (Dyadic 701364157 (-38)) 0 (Dyadic 0 0), (Dyadic 3677168111452173 (-81)), false) ::
  (ProductSum f16 ieee false 7 7 (Dyadic 2099330489 (-52)) 1 (Dyadic 1517631641 (-72)), (Dyadic 7704581795628595 (-95)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 642162 294406 (Dyadic 1530495239 (-12)) 0 (Dyadic 0 0), (Dyadic 6553201050578751 (-39)), false) ::
  (ProductSum f32 ieee false 12 5 (Dyadic 1251191619 10) 0 (Dyadic 0 0), (Dyadic 6559847515422743 (-34)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 8 4 (Dyadic 549992973 96) 0 (Dyadic 0 0), (Dyadic 2595192442454025 52), false) ::
  (ProductSum bf16 ieee false 2 2 (Dyadic 1707500141 (-16)) 1 (Dyadic 522057435 (-79)), (Dyadic 7161774671396889 (-61)), false) ::
  (ProductSum f32 ieee false 14 8 (Dyadic 1675625535 (-56)) 0 (Dyadic 0 0), (Dyadic 7028082883952665 (-99)), false) ::
  (ProductSum f16 ieee false 2 2 (Dyadic 484677291 (-57)) 2 (Dyadic 1760522657 10), (Dyadic 1384531354189829 (-32)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 10850354 5915059 (Dyadic 104180997 14) 0 (Dyadic 0 0), (Dyadic 4160548959648687 (-12)), false) ::
  (ProductSum f32 ieee false 9 4 (Dyadic 2126263365 (-2)) 0 (Dyadic 0 0), (Dyadic 278693591777281 (-41)), false) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 4 4 (Dyadic 992136963 (-36)) 0 (Dyadic 0 0), (Dyadic 3641158528401421 (-79)), false) ::
  (ProductSum bf16 ieee false 6 6 (Dyadic 290152091 99) 0 (Dyadic 0 0), (Dyadic 3042465189724171 54), false) ::
  (ProductSum f32 ieee false 9 7 (Dyadic 809029757 (-12)) 0 (Dyadic 0 0), (Dyadic 5938304305332245 (-56)), false) ::
  (ProductSum f16 ieee false 8949580 8055036 (Dyadic 547122043 97) 1 (Dyadic 607118791 93), (Dyadic 4712735485119907 73), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 13559968 7524824 (Dyadic 342037833 (-24)) 0 (Dyadic 0 0), (Dyadic 4892785529801081 (-47)), false) ::
  (ProductSum f32 ieee false 5 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 1407375302983685 (-198)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 14 3 (Dyadic 478237503 (-52)) 1 (Dyadic 1142057887 (-86)), (Dyadic 1836432340155 (-85)), false) ::
  (ProductSum bf16 ieee false 10 7 (Dyadic 1606394079 (-53)) 2 (Dyadic 8884698625555631 (-76)), (Dyadic 87344175186749 (-89)), false) ::
  (ProductSum f32 ieee false 10 10 (Dyadic 144541393 101) 1 (Dyadic 1686155673 90), (Dyadic 838342710760195 58), true) ::
  (ProductSum f16 ieee false 4 4 (Dyadic 435380839 98) 0 (Dyadic 0 0), (Dyadic 5478358783623187 52), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 17 4 (Dyadic 1664309701 (-22)) 0 (Dyadic 0 0), (Dyadic 8289487242919965 (-65)), false) ::
  (ProductSum f32 ieee false 4 4 (Dyadic 1583980671 97) 1 (Dyadic 1254859925 80), (Dyadic 4152335387384755 54), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 7 1 (Dyadic 1610791085 (-30)) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 ieee false 14140274 14140274 (Dyadic 2042248425 (-12)) 0 (Dyadic 0 0), (Dyadic 451217972864377 (-30)), false) ::
  (ProductSum f32 ieee false 12441879 4090034 (Dyadic 639200193 (-12)) 1 (Dyadic 1178266439 9), (Dyadic 602394027681895 (-12)), false) ::
  (ProductSum f16 ieee false 5160223 5160223 (Dyadic 818128875 (-4)) 1 (Dyadic 2134682751 (-22)), (Dyadic 4221769458304285 (-28)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 0 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f32 ieee false 6 6 (Dyadic 1356433443 96) 0 (Dyadic 0 0), (Dyadic 4266970661781519 53), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 11 6 (Dyadic 1618116179 (-5)) 0 (Dyadic 0 0), (Dyadic 848358895255555 (-45)), false) ::
  (ProductSum bf16 ieee false 2 1 (Dyadic 1117417181 (-13)) 2 (Dyadic 39114421327 (-53)), (Dyadic 4686787352086251 (-58)), false) ::
  (ProductSum f32 ieee false 3 3 (Dyadic 950153323 (-7)) 0 (Dyadic 0 0), (Dyadic 5977847824908309 (-52)), false) ::
  (ProductSum f16 ieee false 4064111 837818 (Dyadic 1115175335 (-1)) 0 (Dyadic 0 0), (Dyadic 7474502829149587 (-28)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 18 18 (Dyadic 960535655 7) 0 (Dyadic 0 0), (Dyadic 849820473262083 (-32)), false) ::
  (ProductSum f32 ieee false 6100261 3053962 (Dyadic 1728911339 (-46)) 0 (Dyadic 0 0), (Dyadic 5280029530675137 (-70)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 4286797 4286797 (Dyadic 426472221 101) 1 (Dyadic 815482211 86), (Dyadic 92843747705711 81), true) ::
  (ProductSum bf16 ieee false 3 2 (Dyadic 1608899943 96) 1 (Dyadic 1223259325 86), (Dyadic 844153242089987 54), false) ::
  (ProductSum f32 ieee false 12 12 (Dyadic 617444753 (-34)) 2 (Dyadic 527367398905 (-77)), (Dyadic 2266032122846091 (-76)), false) ::
  (ProductSum f16 ieee false 15743625 10031996 (Dyadic 1948608831 2) 1 (Dyadic 911992675 (-7)), (Dyadic 152861760527403 (-15)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 5912172 133459 (Dyadic 1138023157 (-34)) 1 (Dyadic 1697215161 (-9)), (Dyadic 3624145288055089 (-35)), false) ::
  (ProductSum f32 ieee false 1 1 (Dyadic 1739086939 (-48)) 1 (Dyadic 1709533055 (-77)), (Dyadic 7294259317951209 (-93)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 12264172 5848833 (Dyadic 1011515535 (-38)) 1 (Dyadic 1338374037 1), (Dyadic 501092267311507 (-17)), false) ::
  (ProductSum bf16 ieee false 18 17 (Dyadic 1224819411 (-286)) 1 (Dyadic 227747783 (-72)), (Dyadic 8119569216438301 (-117)), false) ::
  (ProductSum f32 ieee false 1246590 776341 (Dyadic 562822871 100) 0 (Dyadic 0 0), (Dyadic 6991079527920201 72), true) ::
  (ProductSum f16 ieee false 4 2 (Dyadic 175029141 (-7)) 0 (Dyadic 0 0), (Dyadic 5873003409702933 (-56)), false) ::
  (ProductSum bf16 (tensor_core unit_sm_90) false 4 2 (Dyadic 116025093 (-27)) 0 (Dyadic 0 0), (Dyadic 851627895422979 (-72)), false) ::
  (ProductSum f32 ieee true 18 18 (Dyadic 1197292195 (-10)) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 16 16 (Dyadic 603674861 (-56)) 0 (Dyadic 0 0), (Dyadic 7595987652575259 (-98)), false) ::
  (ProductSum bf16 ieee false 3743426 3743426 (Dyadic 1631824311 (-186)) 0 (Dyadic 0 0), (Dyadic 4916320312856593 (-180)), false) ::
  (ProductSum f32 ieee false 6254128 6254128 (Dyadic 2007608907 98) 2 (Dyadic 167131222420323 80), (Dyadic 8271599526526465 75), true) ::
  (ProductSum f16 ieee true 5 0 (Dyadic 0 0) 1 (Dyadic 920220381 72), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 12924163 7341963 (Dyadic 1369389571 96) 0 (Dyadic 0 0), (Dyadic 4725778815153691 75), false) ::
  (ProductSum f32 ieee false 2 2 (Dyadic 1297493083 99) 0 (Dyadic 0 0), (Dyadic 5442080427999251 54), true) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 5742795 5637107 (Dyadic 106808241 (-9)) 2 (Dyadic 1144461841 10), (Dyadic 8916114591747089 (-14)), false) ::
  (ProductSum bf16 ieee false 6 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 844425232121859 (-197)), false) ::
  (ProductSum f32 ieee false 6 5 (Dyadic 950471265 98) 2 (Dyadic 263040421035513 80), (Dyadic 7170810644587447 55), true) ::
  (ProductSum f16 ieee false 15926170 15926170 (Dyadic 1558630813 (-22)) 1 (Dyadic 1662722203 0), (Dyadic 6620200596505399 (-22)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 10557818 5573042 (Dyadic 1423748681 97) 0 (Dyadic 0 0), (Dyadic 7725226173137683 75), true) ::
  (ProductSum f32 ieee false 2 2 (Dyadic 1402575479 (-29)) 1 (Dyadic 1549586341 (-39)), (Dyadic 8833762571286559 (-74)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 2 2 (Dyadic 1850909997 (-46)) 0 (Dyadic 0 0), (Dyadic 849108662943747 (-87)), false) ::
  (ProductSum bf16 ieee false 9 9 (Dyadic 574941823 (-16)) 0 (Dyadic 0 0), (Dyadic 4822961575952401 (-60)), false) ::
  (ProductSum f32 ieee true 16 2 (Dyadic 1484306697 (-2)) 2 (Dyadic 1563235289 (-6)), (Dyadic 0 0), false) ::
  (ProductSum f16 ieee false 4 3 (Dyadic 292877643 99) 1 (Dyadic 880965953 78), (Dyadic 3685258894432147 53), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 18 18 (Dyadic 121139317 (-4)) 0 (Dyadic 0 0), (Dyadic 7113331705905177 (-48)), false) ::
  (ProductSum f32 ieee false 3 2 (Dyadic 1979460111 99) 1 (Dyadic 1312873609 80), (Dyadic 1556712743324371 57), true) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 18 9 (Dyadic 988342699 97) 1 (Dyadic 1691853747 71), (Dyadic 1684072964320553 56), false) ::
  (ProductSum bf16 ieee false 7661813 7661813 (Dyadic 319922769 (-18)) 0 (Dyadic 0 0), (Dyadic 4902376221194873 (-43)), false) ::
  (ProductSum f32 ieee false 14 3 (Dyadic 369588719 (-29)) 0 (Dyadic 0 0), (Dyadic 4650502327369745 (-75)), false) ::
  (ProductSum f16 ieee false 11462761 9585231 (Dyadic 752911187 (-31)) 1 (Dyadic 2044860921 (-86)), (Dyadic 7216827649879223 (-55)), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 7 7 (Dyadic 1935717831 (-27)) 1 (Dyadic 670545577 (-79)), (Dyadic 2917761974098853 (-67)), false) ::
  (ProductSum f32 ieee false 12428858 4578190 (Dyadic 558060421 (-32)) 0 (Dyadic 0 0), (Dyadic 2554906638817999 (-56)), false) ::
  (ProductSum f16 (tensor_core unit_unknown) false 15 13 (Dyadic 110091189 (-19)) 1 (Dyadic 1451540265 (-81)), (Dyadic 2481938239373003 (-62)), false) ::
  (ProductSum bf16 ieee false 8 8 (Dyadic 1263150521 (-25)) 0 (Dyadic 0 0), (Dyadic 289736413904897 (-64)), false) ::
  (ProductSum f32 ieee false 12693213 11560111 (Dyadic 2076264751 (-42)) 0 (Dyadic 0 0), (Dyadic 6000462746736861 (-64)), false) ::
  (ProductSum f16 ieee false 2240306 2240306 (Dyadic 123996911 100) 2 (Dyadic 137313496331 80), (Dyadic 8898704677397881 71), false) ::
  (ProductSum bf16 (tensor_core unit_unknown) false 6 0 (Dyadic 0 0) 1 (Dyadic 501929799 (-58)), (Dyadic 0 0), false) ::
  (ProductSum f32 ieee false 4906340 2961132 (Dyadic 1710847507 98) 2 (Dyadic 33843942997 83), (Dyadic 633638385643059 77), true) ::
  (ProductSum f16 (tensor_core unit_sm_80) false 3 3 (Dyadic 927028269 (-40)) 1 (Dyadic 1351437325 (-68)), (Dyadic 1701104617745551 (-82)), false) ::
  (ProductSum bf16 ieee false 9715958 4187183 (Dyadic 1017758303 99) 2 (Dyadic 63217774461 89), (Dyadic 4520041725292975 75), true) ::
  (ProductSum f32 ieee false 16 16 (Dyadic 1277051881 (-56)) 0 (Dyadic 0 0), (Dyadic 5356343812685843 (-98)), false) ::
  (ProductSum f16 ieee false 0 0 (Dyadic 0 0) 0 (Dyadic 0 0), (Dyadic 0 0), false) ::
  (ProductSum bf16 (tensor_core unit_sm_80) false 13 13 (Dyadic 1241971419 10) 1 (Dyadic 2128886659 (-39)), (Dyadic 3255753896225117 (-31)), false) ::
  (ProductSum f32 ieee false 6 6 (Dyadic 1877332989 (-41)) 0 (Dyadic 0 0), (Dyadic 5905578948821013 (-84)), false) ::
  (ProductSum f16 (tensor_core unit_sm_90) false 6 6 (Dyadic 2076153211 97) 0 (Dyadic 0 0), (Dyadic 5986762180788245 54), false) ::
  (ProductSum bf16 ieee false 9 3 (Dyadic 975534233 (-29)) 1 (Dyadic 1121368405 (-27)), (Dyadic 8589422655701023 (-72)), false) ::
  (ProductSum f32 ieee false 15428382 15428382 (Dyadic 1780519859 (-17)) 2 (Dyadic 642702387971123 (-53)), (Dyadic 6867672099755255 (-39)), false) ::
  nil.

Definition embedding_bwd_points : list (Z * dyadic * bool * dyadic * bool) :=
  (10273690%Z, (Dyadic 1400984513 99), false, (Dyadic 3598319795094627 77), true) ::
  (14%Z, (Dyadic 591113007 (-36)), false, (Dyadic 8057749861564445 (-80)), false) ::
  (17%Z, (Dyadic 665319813 (-75)), false, (Dyadic 1395276776472581 (-116)), false) ::
  (15%Z, (Dyadic 2093209499 96), true, (Dyadic 0 0), false) ::
  (3%Z, (Dyadic 1635221295 (-142)), false, (Dyadic 857326902312963 (-184)), false) ::
  (15368151%Z, (Dyadic 2091891027 (-50)), false, (Dyadic 8037123771647541 (-72)), false) ::
  (16%Z, (Dyadic 1980497577 96), false, (Dyadic 1946908338094087 56), false) ::
  (1325086%Z, (Dyadic 1856990853 (-122)), false, (Dyadic 4921341448895027 (-147)), false) ::
  (19%Z, (Dyadic 1231297261 1), false, (Dyadic 5809989405376533 (-41)), false) ::
  (12%Z, (Dyadic 853917719 99), false, (Dyadic 4924686943649809 56), true) ::
  (16316277%Z, (Dyadic 1371478611 (-125)), false, (Dyadic 5594355886293179 (-147)), false) ::
  (7%Z, (Dyadic 1756093529 (-54)), false, (Dyadic 1381048146198533 (-95)), false) ::
  (6%Z, (Dyadic 1248039921 99), false, (Dyadic 6543323541012503 55), true) ::
  (10%Z, (Dyadic 1839477365 0), false, (Dyadic 8679743178670111 (-43)), false) ::
  (9337283%Z, (Dyadic 1699201479 (-118)), false, (Dyadic 7932961692120067 (-141)), false) ::
  (18%Z, (Dyadic 1135393271 94), false, (Dyadic 2529910535880713 53), false) ::
  (4%Z, (Dyadic 914128621 (-117)), true, (Dyadic 0 0), false) ::
  (15%Z, (Dyadic 546391925 (-148)), false, (Dyadic 2005267107020807 (-190)), false) ::
  (10520707%Z, (Dyadic 726048139 98), false, (Dyadic 7638539012266161 74), true) ::
  (2%Z, (Dyadic 168844183 (-76)), true, (Dyadic 0 0), false) ::
  (10%Z, (Dyadic 392296593 (-112)), false, (Dyadic 3702175130714125 (-156)), false) ::
  (4%Z, (Dyadic 278810023 100), false, (Dyadic 7016483968253977 53), true) ::
  (4248229%Z, (Dyadic 1971963013 (-32)), false, (Dyadic 4188674243395497 (-55)), false) ::
  (18%Z, (Dyadic 971630581 (-121)), false, (Dyadic 8660042318872607 (-164)), false) ::
  (12%Z, (Dyadic 1464474025 98), false, (Dyadic 4222933866905615 56), true) ::
  (5%Z, (Dyadic 1083139873 (-131)), false, (Dyadic 283938618867713 (-171)), false) ::
  (0%Z, (Dyadic 0 0), false, (Dyadic 0 0), false) ::
  (16%Z, (Dyadic 190657535 100), false, (Dyadic 5997567462604821 55), false) ::
  (0%Z, (Dyadic 0 0), false, (Dyadic 0 0), false) ::
  (3500782%Z, (Dyadic 99527537 (-106)), false, (Dyadic 1393696442025593 (-132)), false) ::
  (16%Z, (Dyadic 1464658631 99), true, (Dyadic 0 0), true) ::
  (17%Z, (Dyadic 328715337 (-105)), true, (Dyadic 0 0), false) ::
  (1%Z, (Dyadic 1489878889 (-136)), false, (Dyadic 0 0), false) ::
  (14516841%Z, (Dyadic 553941981 97), false, (Dyadic 8041487107460069 73), false) ::
  (13424109%Z, (Dyadic 1156422887 (-71)), false, (Dyadic 3880986432189963 (-93)), false) ::
  (4%Z, (Dyadic 865982085 (-96)), false, (Dyadic 5448288184565779 (-141)), false) ::
  (10%Z, (Dyadic 1171351079 99), true, (Dyadic 0 0), true) ::
  (2768387%Z, (Dyadic 1091733737 4), false, (Dyadic 6044680786476985 (-21)), false) ::
  (7913759%Z, (Dyadic 179516465 (-99)), false, (Dyadic 1420649861025475 (-123)), false) ::
  (14%Z, (Dyadic 1821862335 95), false, (Dyadic 3104336819650571 54), false) ::
  (7443209%Z, (Dyadic 1005066465 (-15)), false, (Dyadic 7480918752819747 (-39)), false) ::
  (16%Z, (Dyadic 427252459 (-67)), false, (Dyadic 840012514590723 (-108)), false) ::
  (6632141%Z, (Dyadic 1076468377 99), false, (Dyadic 7139288981836805 75), true) ::
  (10%Z, (Dyadic 1840213339 (-86)), false, (Dyadic 8683215939698719 (-129)), false) ::
  (6704231%Z, (Dyadic 41752629 (-14)), false, (Dyadic 279919227920671 (-38)), false) ::
  (3546209%Z, (Dyadic 267165555 99), false, (Dyadic 7579397027723547 72), false) ::
  (8%Z, (Dyadic 892706881 (-88)), false, (Dyadic 6552497073160215 (-132)), false) ::
  (1%Z, (Dyadic 1596618945 (-9)), true, (Dyadic 0 0), false) ::
  (6%Z, (Dyadic 956597881 99), false, (Dyadic 2507663949168649 56), true) ::
  (5%Z, (Dyadic 104156673 (-160)), false, (Dyadic 6989836003049497 (-208)), false) ::
  (5%Z, (Dyadic 714589145 0), false, (Dyadic 5994408218460181 (-45)), false) ::
  (10%Z, (Dyadic 861922743 96), false, (Dyadic 8134123519475741 52), false) ::
  (13443539%Z, (Dyadic 1745970787 (-113)), false, (Dyadic 5868006155481123 (-135)), false) ::
  (19%Z, (Dyadic 545031723 (-49)), false, (Dyadic 2571782327894025 (-91)), false) ::
  (14%Z, (Dyadic 1743376279 98), false, (Dyadic 5941203206668309 56), true) ::
  (16%Z, (Dyadic 711076013 (-164)), false, (Dyadic 1398032327639045 (-205)), false) ::
  (1577138%Z, (Dyadic 378381979 (-139)), false, (Dyadic 4774081753713001 (-166)), false) ::
  (17%Z, (Dyadic 1930765609 95), false, (Dyadic 8098217916891165 53), false) ::
  (14%Z, (Dyadic 1306594455 (-101)), false, (Dyadic 278294166159361 (-139)), false) ::
  (17%Z, (Dyadic 262537385 (-1)), false, (Dyadic 8809292832440351 (-46)), false) ::
  nil.

Definition exact_sum_points : list (dyadic * dyadic * bool) :=
  ((Dyadic 0 0), (Dyadic 1 (-56)), true) ::
  ((Dyadic 1 (-103)), (Dyadic 1 (-126)), true) ::
  ((Dyadic 0 0), (Dyadic 1 (-72)), true) ::
  ((Dyadic 9328193 (-124)), (Dyadic 1 (-125)), false) ::
  ((Dyadic 30374005 123), (Dyadic 1 123), false) ::
  ((Dyadic 3 (-105)), (Dyadic 1 (-128)), false) ::
  ((Dyadic 21583313 69), (Dyadic 1 69), false) ::
  ((Dyadic 7248121 1), (Dyadic 1 0), true) ::
  ((Dyadic 0 0), (Dyadic 1 144), true) ::
  ((Dyadic 24984069 0), (Dyadic 1 0), false) ::
  ((Dyadic 2665951 131), (Dyadic 1 130), false) ::
  ((Dyadic 3668279 2), (Dyadic 1 0), true) ::
  ((Dyadic 11045139 (-90)), (Dyadic 1 (-90)), true) ::
  ((Dyadic 1 125), (Dyadic 1 102), true) ::
  ((Dyadic 3718899 (-94)), (Dyadic 1 (-96)), true) ::
  ((Dyadic 619119 (-124)), (Dyadic 1 (-128)), false) ::
  ((Dyadic 16736641 (-124)), (Dyadic 1 (-124)), true) ::
  ((Dyadic 687067 107), (Dyadic 1 103), true) ::
  ((Dyadic 24538897 (-79)), (Dyadic 1 (-79)), false) ::
  ((Dyadic 28625657 (-127)), (Dyadic 1 (-127)), false) ::
  ((Dyadic 28518077 (-127)), (Dyadic 1 (-127)), false) ::
  ((Dyadic 6817723 (-126)), (Dyadic 1 (-128)), false) ::
  ((Dyadic 0 0), (Dyadic 1 94), true) ::
  ((Dyadic 3 (-102)), (Dyadic 1 (-125)), false) ::
  ((Dyadic 21355865 (-71)), (Dyadic 1 (-71)), false) ::
  ((Dyadic 4944541 103), (Dyadic 1 103), true) ::
  ((Dyadic 0 0), (Dyadic 1 (-73)), true) ::
  ((Dyadic 1 126), (Dyadic 1 103), true) ::
  ((Dyadic 0 0), (Dyadic 1 (-44)), true) ::
  ((Dyadic 21657295 (-128)), (Dyadic 1 (-128)), false) ::
  ((Dyadic 1 (-9)), (Dyadic 1 (-32)), true) ::
  ((Dyadic 3 (-103)), (Dyadic 1 (-126)), false) ::
  ((Dyadic 23986909 113), (Dyadic 1 113), false) ::
  ((Dyadic 16462181 103), (Dyadic 1 102), false) ::
  ((Dyadic 3 (-34)), (Dyadic 1 (-57)), false) ::
  ((Dyadic 18523309 (-128)), (Dyadic 1 (-128)), false) ::
  ((Dyadic 0 0), (Dyadic 1 (-150)), true) ::
  ((Dyadic 1 (-102)), (Dyadic 1 (-125)), true) ::
  ((Dyadic 1 (-60)), (Dyadic 1 (-84)), true) ::
  ((Dyadic 11540089 (-125)), (Dyadic 1 (-125)), true) ::
  ((Dyadic 26426825 (-101)), (Dyadic 1 (-101)), false) ::
  ((Dyadic 0 0), (Dyadic 1 (-127)), true) ::
  ((Dyadic 1 4), (Dyadic 1 (-20)), true) ::
  ((Dyadic 10778853 (-124)), (Dyadic 1 (-125)), false) ::
  ((Dyadic 3 149), (Dyadic 1 126), false) ::
  ((Dyadic 1 (-104)), (Dyadic 1 (-128)), false) ::
  ((Dyadic 8125403 (-7)), (Dyadic 1 (-9)), false) ::
  ((Dyadic 19732295 103), (Dyadic 1 103), false) ::
  ((Dyadic 27973713 46), (Dyadic 1 46), false) ::
  ((Dyadic 3 126), (Dyadic 1 103), false) ::
  ((Dyadic 16378547 136), (Dyadic 1 135), false) ::
  ((Dyadic 100821 106), (Dyadic 1 102), true) ::
  ((Dyadic 0 0), (Dyadic 1 (-58)), true) ::
  ((Dyadic 31676979 (-127)), (Dyadic 1 (-127)), false) ::
  ((Dyadic 10835955 (-127)), (Dyadic 1 (-127)), false) ::
  ((Dyadic 2610607 104), (Dyadic 1 104), false) ::
  ((Dyadic 1 (-63)), (Dyadic 1 (-87)), true) ::
  ((Dyadic 1 128), (Dyadic 1 104), false) ::
  ((Dyadic 1422297 93), (Dyadic 1 90), true) ::
  ((Dyadic 5409743 102), (Dyadic 1 102), true) ::
  nil.

Definition softmax_points : list (Z * Z * dyadic * Z * Z * dyadic * dyadic * dyadic * dyadic) :=
  (1%Z, 18%Z, (Dyadic 3254269292955843 (-50)), 8%Z, 3%Z, (Dyadic 516862607 (-34)), (Dyadic 8525497665652905 (-71)), (Dyadic 51701 (-16)), (Dyadic 3362859762664203 (-70))) ::
  (2%Z, 5%Z, (Dyadic 7248263982714163 (-52)), 3%Z, 14%Z, (Dyadic 1170585183 (-29)), (Dyadic 635918461402231 (-65)), (Dyadic 137243 (-20)), (Dyadic 83232266805865 (-65))) ::
  (1%Z, 18%Z, (Dyadic 3254269292955843 (-50)), 17%Z, 14%Z, (Dyadic 1302439647 (-26)), (Dyadic 7465945349811869 (-69)), (Dyadic 147909 (-18)), (Dyadic 1053123961205795 (-67))) ::
  (2%Z, 8067576%Z, (Dyadic 8952797811022997 (-49)), 2565816%Z, 0%Z, (Dyadic 1468009881 (-35)), (Dyadic 3969699399580755 (-53)), (Dyadic 88501 (-20)), (Dyadic 5360753884312403 (-57))) ::
  (1%Z, 12672916%Z, (Dyadic 1150879240098187 (-46)), 7045772%Z, 1%Z, (Dyadic 596835193 (-26)), (Dyadic 815332897933077 (-50)), (Dyadic 116027 (-17)), (Dyadic 5773964242461027 (-53))) ::
  (1%Z, 9%Z, (Dyadic 2473854946935173 (-50)), 8%Z, 29%Z, (Dyadic 998496459 (-31)), (Dyadic 5172533171249527 (-68)), (Dyadic 43577 (-20)), (Dyadic 3439384124809897 (-72))) ::
  (1%Z, 13%Z, (Dyadic 360984530327749 (-47)), 4%Z, 3%Z, (Dyadic 474091165 (-27)), (Dyadic 8968541826632805 (-71)), (Dyadic 54715 (-16)), (Dyadic 3743848923066831 (-70))) ::
  (2%Z, 11%Z, (Dyadic 5399580128524107 (-51)), 5%Z, 25%Z, (Dyadic 1598484755 (-33)), (Dyadic 8624966343021077 (-68)), (Dyadic 381413 (-20)), (Dyadic 6274555755216045 (-69))) ::
  (2%Z, 1%Z, (Dyadic 0 0), 0%Z, 4%Z, (Dyadic 1880649221 (-31)), (Dyadic 6542902708076147 (-70)), (Dyadic 235309 (-18)), (Dyadic 5873122762049467 (-70))) ::
  (2%Z, 7%Z, (Dyadic 8763600222181975 (-52)), 2%Z, 28%Z, (Dyadic 1321959141 (-33)), (Dyadic 4716232926324943 (-67)), (Dyadic 31633 (-18)), (Dyadic 2276437319312095 (-69))) ::
  (2%Z, 5%Z, (Dyadic 7248263982714163 (-52)), 3%Z, 27%Z, (Dyadic 750249071 (-32)), (Dyadic 4562563380854253 (-67)), (Dyadic 16777 (-17)), (Dyadic 1168001187753175 (-68))) ::
  (2%Z, 15112301%Z, (Dyadic 290816772411077 (-44)), 3496082%Z, 26%Z, (Dyadic 1552344161 (-25)), (Dyadic 6438483321479833 (-53)), (Dyadic 492245 (-19)), (Dyadic 6044981427348807 (-53))) ::
  (1%Z, 9124083%Z, (Dyadic 4511038436579937 (-48)), 8078508%Z, 14%Z, (Dyadic 1220110929 (-38)), (Dyadic 8366979697330509 (-53)), (Dyadic 558181 (-20)), (Dyadic 2226967379777745 (-52))) ::
  (2%Z, 7%Z, (Dyadic 8763600222181975 (-52)), 4%Z, 0%Z, (Dyadic 646115907 (-37)), (Dyadic 1258574057434251 (-69)), (Dyadic 39293 (-18)), (Dyadic 3018380764084729 (-73))) ::
  (2%Z, 4%Z, (Dyadic 6243314768165359 (-52)), 0%Z, 28%Z, (Dyadic 1818648887 (-38)), (Dyadic 1163993226215359 (-65)), (Dyadic 2931 (-20)), (Dyadic 1665851633807241 (-74))) ::
  (1%Z, 8%Z, (Dyadic 4682486076124019 (-51)), 6%Z, 25%Z, (Dyadic 1005880621 (-26)), (Dyadic 2537121484409199 (-67)), (Dyadic 757011 (-20)), (Dyadic 7326617706428905 (-69))) ::
  (2%Z, 16%Z, (Dyadic 6243314768165359 (-51)), 13%Z, 29%Z, (Dyadic 1531910111 (-35)), (Dyadic 637337355890273 (-64)), (Dyadic 60203 (-20)), (Dyadic 292736975377367 (-67))) ::
  (2%Z, 1%Z, (Dyadic 0 0), 0%Z, 12%Z, (Dyadic 1751268613 (-28)), (Dyadic 4392903406754833 (-68)), (Dyadic 653799 (-20)), (Dyadic 5478049954286409 (-69))) ::
  (2%Z, 509628%Z, (Dyadic 7397970968053097 (-49)), 123206%Z, 16%Z, (Dyadic 776529787 (-28)), (Dyadic 8606920036304571 (-59)), (Dyadic 56065 (-20)), (Dyadic 1840770613996191 (-61))) ::
  (2%Z, 3%Z, (Dyadic 2473854946935173 (-51)), 2%Z, 10%Z, (Dyadic 1100796967 (-29)), (Dyadic 3739766108560915 (-68)), (Dyadic 975835 (-20)), (Dyadic 3480333958194307 (-68))) ::
  (2%Z, 18%Z, (Dyadic 3254269292955843 (-50)), 16%Z, 6%Z, (Dyadic 670677235 (-26)), (Dyadic 6843873498105935 (-69)), (Dyadic 478361 (-20)), (Dyadic 1561089596952183 (-68))) ::
  (2%Z, 10%Z, (Dyadic 5184960683398421 (-51)), 6%Z, 11%Z, (Dyadic 631219057 (-29)), (Dyadic 4257920065668911 (-68)), (Dyadic 80873 (-19)), (Dyadic 5254375754865159 (-71))) ::
  (1%Z, 7118439%Z, (Dyadic 555146025133151 (-45)), 2750112%Z, 19%Z, (Dyadic 710072219 (-37)), (Dyadic 3532617908412203 (-54)), (Dyadic 166087 (-20)), (Dyadic 2238166467874373 (-56))) ::
  (1%Z, 9%Z, (Dyadic 2473854946935173 (-50)), 2%Z, 13%Z, (Dyadic 1612373847 (-31)), (Dyadic 2544688792555203 (-68)), (Dyadic 99699 (-17)), (Dyadic 7742398923613345 (-70))) ::
  (1%Z, 17%Z, (Dyadic 3189914640138173 (-50)), 2%Z, 6%Z, (Dyadic 203636823 (-26)), (Dyadic 3103665203037093 (-69)), (Dyadic 377645 (-20)), (Dyadic 4471144277957715 (-71))) ::
  (1%Z, 17%Z, (Dyadic 3189914640138173 (-50)), 7%Z, 32%Z, (Dyadic 876540477 (-27)), (Dyadic 1473825342455591 (-66)), (Dyadic 17853 (-17)), (Dyadic 6423877890346621 (-71))) ::
  (1%Z, 14692571%Z, (Dyadic 4645140037129755 (-48)), 5423890%Z, 25%Z, (Dyadic 1575380829 (-25)), (Dyadic 8608301536859835 (-54)), (Dyadic 20467 (-20)), (Dyadic 5376773301846645 (-59))) ::
  (2%Z, 15%Z, (Dyadic 6097986938292255 (-51)), 11%Z, 3%Z, (Dyadic 168769979 (-29)), (Dyadic 7593140471395531 (-70)), (Dyadic 135871 (-18)), (Dyadic 3935575824695533 (-70))) ::
  (2%Z, 12%Z, (Dyadic 1398878082754463 (-49)), 0%Z, 7%Z, (Dyadic 2002509795 (-25)), (Dyadic 638805043815063 (-65)), (Dyadic 718941 (-20)), (Dyadic 7007799331748151 (-69))) ::
  (2%Z, 1791138%Z, (Dyadic 506597316577947 (-45)), 1656912%Z, 17%Z, (Dyadic 790451321 (-24)), (Dyadic 8870738860086763 (-55)), (Dyadic 798891 (-20)), (Dyadic 3379227370583343 (-54))) ::
  (2%Z, 5%Z, (Dyadic 7248263982714163 (-52)), 0%Z, 14%Z, (Dyadic 1687152967 (-34)), (Dyadic 2449675856507451 (-67)), (Dyadic 693883 (-20)), (Dyadic 6484178284992087 (-69))) ::
  (1%Z, 13%Z, (Dyadic 360984530327749 (-47)), 9%Z, 2%Z, (Dyadic 1878428499 (-39)), (Dyadic 3643986424688965 (-70)), (Dyadic 362639 (-20)), (Dyadic 5040937778712411 (-72))) ::
  (1%Z, 7%Z, (Dyadic 8763600222181975 (-52)), 5%Z, 4%Z, (Dyadic 655408081 (-30)), (Dyadic 2313672324106755 (-69)), (Dyadic 319795 (-19)), (Dyadic 5644995429136065 (-71))) ::
  (1%Z, 10566390%Z, (Dyadic 1138086982873037 (-46)), 5352728%Z, 6%Z, (Dyadic 1323007809 (-32)), (Dyadic 8441800564821881 (-54)), (Dyadic 100543 (-20)), (Dyadic 3237777535205419 (-56))) ::
  (1%Z, 8380867%Z, (Dyadic 8974245249681595 (-49)), 7824911%Z, 28%Z, (Dyadic 1938638413 (-40)), (Dyadic 7874946601657985 (-53)), (Dyadic 559661 (-20)), (Dyadic 525391160253349 (-50))) ::
  (1%Z, 11%Z, (Dyadic 5399580128524107 (-51)), 4%Z, 9%Z, (Dyadic 469575549 (-23)), (Dyadic 2070354693005729 (-67)), (Dyadic 547481 (-20)), (Dyadic 8647765027477063 (-70))) ::
  (1%Z, 10%Z, (Dyadic 5184960683398421 (-51)), 3%Z, 5%Z, (Dyadic 24951899 (-26)), (Dyadic 2569339252179623 (-69)), (Dyadic 182469 (-18)), (Dyadic 7153698181243367 (-71))) ::
  (1%Z, 4%Z, (Dyadic 6243314768165359 (-52)), 3%Z, 1%Z, (Dyadic 845073491 (-30)), (Dyadic 5051583436261773 (-71)), (Dyadic 971411 (-20)), (Dyadic 4679836003687385 (-71))) ::
  (1%Z, 18%Z, (Dyadic 3254269292955843 (-50)), 11%Z, 3%Z, (Dyadic 1340529331 (-39)), (Dyadic 8938999868274229 (-71)), (Dyadic 301051 (-19)), (Dyadic 5132856081664723 (-71))) ::
  (2%Z, 4%Z, (Dyadic 6243314768165359 (-52)), 0%Z, 18%Z, (Dyadic 1525175733 (-39)), (Dyadic 6144717715747769 (-68)), (Dyadic 978345 (-20)), (Dyadic 1433289969828909 (-66))) ::
  (2%Z, 686917%Z, (Dyadic 7566029781102535 (-49)), 409623%Z, 4%Z, (Dyadic 551798817 (-35)), (Dyadic 1850190902096803 (-55)), (Dyadic 183553 (-19)), (Dyadic 2591004109593015 (-57))) ::
  (1%Z, 7027971%Z, (Dyadic 2218784009530953 (-47)), 1651981%Z, 5%Z, (Dyadic 1891670967 (-26)), (Dyadic 7871877818561467 (-56)), (Dyadic 945395 (-20)), (Dyadic 3548638310565445 (-55))) ::
  (2%Z, 6%Z, (Dyadic 4034683638976513 (-51)), 5%Z, 27%Z, (Dyadic 1270184533 (-25)), (Dyadic 2675412208830293 (-66)), (Dyadic 848539 (-20)), (Dyadic 4330046844994843 (-67))) ::
  (2%Z, 4%Z, (Dyadic 6243314768165359 (-52)), 1%Z, 5%Z, (Dyadic 1690304335 (-28)), (Dyadic 4623946433845993 (-69)), (Dyadic 216323 (-18)), (Dyadic 3815711839328271 (-69))) ::
  (2%Z, 8%Z, (Dyadic 4682486076124019 (-51)), 1%Z, 22%Z, (Dyadic 501492863 (-37)), (Dyadic 3750822696622199 (-67)), (Dyadic 353631 (-19)), (Dyadic 2529920923288745 (-67))) ::
  (2%Z, 9154857%Z, (Dyadic 4511986206977713 (-48)), 2321048%Z, 9%Z, (Dyadic 1109748977 (-31)), (Dyadic 6892594694636123 (-54)), (Dyadic 97685 (-17)), (Dyadic 1284223771563591 (-52))) ::
  (1%Z, 8658562%Z, (Dyadic 8992595891564021 (-49)), 3682703%Z, 29%Z, (Dyadic 958055145 (-35)), (Dyadic 5067578654950823 (-54)), (Dyadic 178589 (-18)), (Dyadic 3452353685031951 (-54))) ::
  (2%Z, 7%Z, (Dyadic 8763600222181975 (-52)), 3%Z, 18%Z, (Dyadic 881863195 (-39)), (Dyadic 3147273850821277 (-67)), (Dyadic 108433 (-17)), (Dyadic 5207341697175671 (-68))) ::
  (1%Z, 15%Z, (Dyadic 6097986938292255 (-51)), 0%Z, 9%Z, (Dyadic 1005096119 (-30)), (Dyadic 951832134442841 (-67)), (Dyadic 176287 (-18)), (Dyadic 5120716292862723 (-70))) ::
  (1%Z, 7%Z, (Dyadic 8763600222181975 (-52)), 1%Z, 10%Z, (Dyadic 1577987067 (-33)), (Dyadic 8078605692006635 (-70)), (Dyadic 413681 (-20)), (Dyadic 6374293673086183 (-71))) ::
  (2%Z, 9386458%Z, (Dyadic 4519018424148899 (-48)), 1250025%Z, 16%Z, (Dyadic 1494566563 (-29)), (Dyadic 788853186019677 (-52)), (Dyadic 145765 (-18)), (Dyadic 7018260782480385 (-56))) ::
  (1%Z, 13350241%Z, (Dyadic 1154543151970351 (-46)), 6582559%Z, 8%Z, (Dyadic 1535306667 (-32)), (Dyadic 2908488582878283 (-52)), (Dyadic 33161 (-17)), (Dyadic 5886742547413763 (-55))) ::
  (1%Z, 8920705%Z, (Dyadic 2252346654446811 (-47)), 4886072%Z, 31%Z, (Dyadic 487941017 (-38)), (Dyadic 7403876244589079 (-54)), (Dyadic 94823 (-17)), (Dyadic 5356275612950689 (-54))) ::
  (1%Z, 9%Z, (Dyadic 2473854946935173 (-50)), 8%Z, 10%Z, (Dyadic 1925925569 (-28)), (Dyadic 4859018867732389 (-69)), (Dyadic 23041 (-16)), (Dyadic 3416645926862255 (-70))) ::
  (2%Z, 20%Z, (Dyadic 6745789375439761 (-51)), 16%Z, 18%Z, (Dyadic 1397808231 (-33)), (Dyadic 3420755086786831 (-67)), (Dyadic 156581 (-19)), (Dyadic 8172992740542155 (-70))) ::
  (2%Z, 3%Z, (Dyadic 2473854946935173 (-51)), 0%Z, 9%Z, (Dyadic 242161799 (-33)), (Dyadic 6545273065772085 (-69)), (Dyadic 858405 (-20)), (Dyadic 5358214498542887 (-69))) ::
  nil.

Definition gelu_points : list (dyadic * dyadic * dyadic * dyadic * dyadic * dyadic) :=
  ((Dyadic 1915709939 (-26)), (Dyadic 1109260349 (-44)), (Dyadic 1531 (-14)), (Dyadic 1912014197 (-61)), (Dyadic 6006857202494333 (-72)), (Dyadic 841700207669365 (-74))) ::
  ((Dyadic 1027415927 (-26)), (Dyadic 2103071979 (-31)), (Dyadic 61415 (-17)), (Dyadic 129078029 (-60)), (Dyadic 159037249757243 (-65)), (Dyadic 5318662237177351 (-74))) ::
  ((Dyadic 229423689 (-39)), (Dyadic 1177586621 (-49)), (Dyadic 809683 (-20)), (Dyadic 1976265363 (-20)), (Dyadic 5944336161424239 (-85)), (Dyadic 5846480161174593 (-65))) ::
  ((Dyadic 1076769577 (-63)), (Dyadic 1956912941 (-46)), (Dyadic 17095 (-20)), (Dyadic 304310499 (-66)), (Dyadic 4712352689958803 (-112)), (Dyadic 4699102092729537 (-79))) ::
  ((Dyadic 1814551837 (-44)), (Dyadic 463673165 (-51)), (Dyadic 187119 (-20)), (Dyadic 1490169431 (-52)), (Dyadic 2716297231254861 (-88)), (Dyadic 803670271905245 (-73))) ::
  ((Dyadic 1299876565 (-57)), (Dyadic 1713049263 (-37)), (Dyadic 285647 (-20)), (Dyadic 1395265627 (-39)), (Dyadic 1491957874615227 (-100)), (Dyadic 4938748227227811 (-75))) ::
  ((Dyadic 1740649111 (-37)), (Dyadic 680678525 (-32)), (Dyadic 152161 (-18)), (Dyadic 1336316245 (-59)), (Dyadic 8757260060046759 (-81)), (Dyadic 5402028668642603 (-74))) ::
  ((Dyadic 1800186901 (-30)), (Dyadic 851075393 (-64)), (Dyadic 59801 (-18)), (Dyadic 1488906561 (-23)), (Dyadic 6889790519591567 (-75)), (Dyadic 8861201324333225 (-69))) ::
  ((Dyadic 1343457263 (-29)), (Dyadic 67153819 (-60)), (Dyadic 157849 (-18)), (Dyadic 305618193 (-36)), (Dyadic 1696507084077959 (-71)), (Dyadic 2716623440099537 (-73))) ::
  ((Dyadic 1063976897 (-59)), (Dyadic 1911285103 (-22)), (Dyadic 950119 (-20)), (Dyadic 892835619 (-14)), (Dyadic 707428576956663 (-95)), (Dyadic 4557031467429241 (-53))) ::
  ((Dyadic 471576775 (-20)), (Dyadic 292114851 (-54)), (Dyadic 59109 (-19)), (Dyadic 1049243119 (-41)), (Dyadic 3567927269631513 (-67)), (Dyadic 8127318379123733 (-77))) ::
  ((Dyadic 1025722349 (-51)), (Dyadic 1281809489 (-30)), (Dyadic 132391 (-18)), (Dyadic 1957011209 (-28)), (Dyadic 5629320485115347 (-95)), (Dyadic 8026423151631239 (-72))) ::
  ((Dyadic 755579177 (-31)), (Dyadic 151140367 (-27)), (Dyadic 436623 (-19)), (Dyadic 939351985 (-28)), (Dyadic 5775391414642615 (-75)), (Dyadic 7533799446074765 (-73))) ::
  ((Dyadic 1050878353 (-14)), (Dyadic 1331022741 (-37)), (Dyadic 874719 (-20)), (Dyadic 770122145 (-63)), (Dyadic 3679845065583311 (-57)), (Dyadic 3759905741261135 (-73))) ::
  ((Dyadic 1771298205 (-62)), (Dyadic 1504070833 (-39)), (Dyadic 140717 (-18)), (Dyadic 1769478997 (-57)), (Dyadic 7981110587144707 (-106)), (Dyadic 302378936814911 (-70))) ::
  ((Dyadic 1041720423 (-39)), (Dyadic 1233420183 (-31)), (Dyadic 317977 (-19)), (Dyadic 444202739 (-41)), (Dyadic 737351564478787 (-80)), (Dyadic 3040347400303199 (-73))) ::
  ((Dyadic 184770603 (-20)), (Dyadic 680264691 (-31)), (Dyadic 80795 (-18)), (Dyadic 1766211193 (-23)), (Dyadic 530056553806179 (-64)), (Dyadic 1841715171249457 (-66))) ::
  ((Dyadic 1213944715 (-28)), (Dyadic 1005852435 (-49)), (Dyadic 458271 (-20)), (Dyadic 347163929 (-52)), (Dyadic 8901055012445641 (-73)), (Dyadic 3936520066049273 (-74))) ::
  ((Dyadic 212263299 (-37)), (Dyadic 932328135 (-51)), (Dyadic 1037957 (-20)), (Dyadic 1567975113 (-62)), (Dyadic 881280710008171 (-80)), (Dyadic 4457991379015771 (-73))) ::
  ((Dyadic 10050875 (-8)), (Dyadic 521697907 (-39)), (Dyadic 726963 (-20)), (Dyadic 47936825 (-5)), (Dyadic 467691364814397 (-55)), (Dyadic 1368775381721587 (-53))) ::
  ((Dyadic 285528771 (-60)), (Dyadic 1227349143 (-54)), (Dyadic 191797 (-18)), (Dyadic 1806456501 (-37)), (Dyadic 3504867980295415 (-105)), (Dyadic 1653334755321293 (-72))) ::
  ((Dyadic 1067030491 (-41)), (Dyadic 2098458639 (-30)), (Dyadic 920663 (-20)), (Dyadic 1975190931 (-51)), (Dyadic 8795816765427343 (-85)), (Dyadic 8851141745448955 (-74))) ::
  ((Dyadic 1863485837 (-61)), (Dyadic 1028338073 (-36)), (Dyadic 41203 (-20)), (Dyadic 513577103 (-55)), (Dyadic 618664967464325 (-105)), (Dyadic 178237592827429 (-73))) ::
  ((Dyadic 1072538601 (-15)), (Dyadic 1306932119 (-23)), (Dyadic 421901 (-19)), (Dyadic 2069495909 (-13)), (Dyadic 7336357068621023 (-55)), (Dyadic 3363292049759505 (-51))) ::
  ((Dyadic 628271779 (-26)), (Dyadic 1734554329 (-59)), (Dyadic 438729 (-19)), (Dyadic 224181045 (-22)), (Dyadic 2205128395172535 (-69)), (Dyadic 4580032842894321 (-70))) ::
  ((Dyadic 1130977465 (-65)), (Dyadic 1415259511 (-47)), (Dyadic 1004249 (-20)), (Dyadic 228703821 (-26)), (Dyadic 2271566459322937 (-107)), (Dyadic 1233652294508893 (-71))) ::
  ((Dyadic 2045049833 (-69)), (Dyadic 1177563971 (-29)), (Dyadic 233757 (-20)), (Dyadic 599534435 (-24)), (Dyadic 1770876987132555 (-111)), (Dyadic 1884800741415351 (-68))) ::
  ((Dyadic 2076934883 (-25)), (Dyadic 853783153 (-44)), (Dyadic 3739 (-15)), (Dyadic 107296407 (-17)), (Dyadic 7952206301912841 (-71)), (Dyadic 5831116395491163 (-67))) ::
  ((Dyadic 1670546211 (-22)), (Dyadic 2005354343 (-43)), (Dyadic 57115 (-19)), (Dyadic 248885673 (-34)), (Dyadic 6107068049279085 (-68)), (Dyadic 7951967006422165 (-77))) ::
  ((Dyadic 815212007 (-45)), (Dyadic 1331286925 (-31)), (Dyadic 175853 (-18)), (Dyadic 1346014931 (-67)), (Dyadic 2527752965881841 (-88)), (Dyadic 6658768656279285 (-74))) ::
  ((Dyadic 1833905747 (-54)), (Dyadic 1437961651 (-23)), (Dyadic 363125 (-19)), (Dyadic 1218029575 (-33)), (Dyadic 2276380369647523 (-91)), (Dyadic 3034020813407091 (-68))) ::
  ((Dyadic 738933091 (-28)), (Dyadic 874777913 (-22)), (Dyadic 293473 (-19)), (Dyadic 439651039 (-35)), (Dyadic 635789801646969 (-64)), (Dyadic 7484358755923495 (-69))) ::
  ((Dyadic 717006927 (-13)), (Dyadic 1929256599 (-45)), (Dyadic 176133 (-19)), (Dyadic 1293560209 (-67)), (Dyadic 8082616337573949 (-59)), (Dyadic 3025996989095117 (-74))) ::
  ((Dyadic 2136661595 (-26)), (Dyadic 1588772977 (-31)), (Dyadic 478901 (-19)), (Dyadic 394404979 (-68)), (Dyadic 1056017004499711 (-66)), (Dyadic 8490925299468099 (-74))) ::
  ((Dyadic 12311129 (-46)), (Dyadic 689665363 (-43)), (Dyadic 1015441 (-20)), (Dyadic 199185229 (-56)), (Dyadic 3200317601168941 (-95)), (Dyadic 8722582578430199 (-74))) ::
  ((Dyadic 1279891259 (-37)), (Dyadic 1819739417 (-53)), (Dyadic 998509 (-20)), (Dyadic 816656541 (-9)), (Dyadic 2555965894593771 (-79)), (Dyadic 4983779285418459 (-57))) ::
  ((Dyadic 1631454505 (-64)), (Dyadic 841992243 (-35)), (Dyadic 32595 (-16)), (Dyadic 2109459885 (-62)), (Dyadic 856076150353489 (-105)), (Dyadic 281713270139909 (-70))) ::
  ((Dyadic 462321281 (-53)), (Dyadic 228418475 (-46)), (Dyadic 88807 (-17)), (Dyadic 1483584501 (-49)), (Dyadic 5255345598610825 (-98)), (Dyadic 6102778950483739 (-74))) ::
  ((Dyadic 949236137 (-25)), (Dyadic 252741637 (-32)), (Dyadic 775263 (-20)), (Dyadic 159316663 (-46)), (Dyadic 5932411540199459 (-69)), (Dyadic 3355267451247491 (-73))) ::
  ((Dyadic 66006723 (-22)), (Dyadic 2082846597 (-51)), (Dyadic 1012977 (-20)), (Dyadic 33158683 (-19)), (Dyadic 4279250770829525 (-69)), (Dyadic 6846190511004733 (-72))) ::
  ((Dyadic 1327130173 (-22)), (Dyadic 1105450225 (-48)), (Dyadic 490651 (-20)), (Dyadic 400311921 (-57)), (Dyadic 81394803357659 (-60)), (Dyadic 4214664407328505 (-74))) ::
  ((Dyadic 275692189 (-55)), (Dyadic 570402343 (-38)), (Dyadic 37935 (-19)), (Dyadic 829625383 (-55)), (Dyadic 2679922997167955 (-103)), (Dyadic 5218764954979273 (-77))) ::
  ((Dyadic 822086155 (-33)), (Dyadic 2017428099 (-70)), (Dyadic 28551 (-20)), (Dyadic 623293363 (-37)), (Dyadic 6008673743724695 (-82)), (Dyadic 3941330663138947 (-78))) ::
  ((Dyadic 1122261195 (-14)), (Dyadic 215080471 (-52)), (Dyadic 36343 (-17)), (Dyadic 503158371 (-29)), (Dyadic 652581429020251 (-56)), (Dyadic 2094557039228151 (-73))) ::
  ((Dyadic 1361657567 (-20)), (Dyadic 745154949 (-38)), (Dyadic 7335 (-16)), (Dyadic 1150472509 (-34)), (Dyadic 5119887753271961 (-66)), (Dyadic 4277453202857175 (-76))) ::
  ((Dyadic 1792939769 (-60)), (Dyadic 444318383 (-24)), (Dyadic 310677 (-19)), (Dyadic 1199571599 (-18)), (Dyadic 7124443499506779 (-101)), (Dyadic 8651989520809285 (-60))) ::
  ((Dyadic 1543958393 (-67)), (Dyadic 1212006363 (-27)), (Dyadic 190457 (-18)), (Dyadic 1328485239 (-42)), (Dyadic 5257072781123407 (-109)), (Dyadic 114273838003057 (-67))) ::
  ((Dyadic 1977809345 (-67)), (Dyadic 316120359 (-42)), (Dyadic 382815 (-19)), (Dyadic 699215617 (-68)), (Dyadic 6057139414669767 (-110)), (Dyadic 1644193850073543 (-72))) ::
  ((Dyadic 109227739 (-9)), (Dyadic 1662061295 (-49)), (Dyadic 174597 (-19)), (Dyadic 830529329 (-35)), (Dyadic 305133669174599 (-53)), (Dyadic 3047915531198167 (-74))) ::
  ((Dyadic 1943805033 (-61)), (Dyadic 1244557247 (-31)), (Dyadic 504445 (-19)), (Dyadic 1456072453 (-67)), (Dyadic 1982592911193493 (-102)), (Dyadic 4380671708478667 (-73))) ::
  ((Dyadic 1782803135 (-56)), (Dyadic 1199824309 (-53)), (Dyadic 53595 (-18)), (Dyadic 441073521 (-15)), (Dyadic 11943667385395 (-92)), (Dyadic 1203715931517719 (-60))) ::
  ((Dyadic 1992859555 (-60)), (Dyadic 2098263779 (-66)), (Dyadic 57741 (-18)), (Dyadic 616136035 (-36)), (Dyadic 7364461028257993 (-105)), (Dyadic 249729463816515 (-71))) ::
  ((Dyadic 209034571 (-29)), (Dyadic 832183371 (-38)), (Dyadic 12417 (-15)), (Dyadic 524649343 (-48)), (Dyadic 2660374975107365 (-75)), (Dyadic 6832743438860235 (-75))) ::
  ((Dyadic 1604348453 (-38)), (Dyadic 1153782991 (-55)), (Dyadic 170159 (-19)), (Dyadic 1382906715 (-40)), (Dyadic 8735818603728823 (-83)), (Dyadic 1462896432478789 (-73))) ::
  ((Dyadic 226407749 (-14)), (Dyadic 291382711 (-32)), (Dyadic 16871 (-18)), (Dyadic 1057316763 (-57)), (Dyadic 4035539700461085 (-63)), (Dyadic 2336255121981 (-66))) ::
  ((Dyadic 1153300443 (-39)), (Dyadic 1983867019 (-63)), (Dyadic 729209 (-20)), (Dyadic 1830457233 (-70)), (Dyadic 6727976502137097 (-83)), (Dyadic 6263857614105883 (-74))) ::
  ((Dyadic 495926579 (-39)), (Dyadic 37730439 (-45)), (Dyadic 18691 (-17)), (Dyadic 6773663 (-39)), (Dyadic 593239548762679 (-83)), (Dyadic 5137799596808933 (-76))) ::
  ((Dyadic 660183109 (-36)), (Dyadic 110873635 (-58)), (Dyadic 762579 (-20)), (Dyadic 126519369 (-60)), (Dyadic 8055068401672365 (-81)), (Dyadic 6550503731772485 (-74))) ::
  ((Dyadic 1174020533 (-13)), (Dyadic 1177403975 (-67)), (Dyadic 453773 (-20)), (Dyadic 306302627 (-26)), (Dyadic 4261910554577731 (-57)), (Dyadic 874360753040477 (-70))) ::
  ((Dyadic 97466597 (-37)), (Dyadic 11385311 (-34)), (Dyadic 417197 (-19)), (Dyadic 1166927361 (-16)), (Dyadic 5205187076803921 (-84)), (Dyadic 3184060256331927 (-61))) ::
  nil.

Definition softmax_bwd_points : list (dtype * bool * Z * Z * dyadic * dyadic * dyadic * dyadic * dyadic * dyadic) :=
  (f16, true, 8439418%Z, 6631830%Z, (Dyadic 1299500057 (-145)), (Dyadic 1629247507 (-35)), (Dyadic 143881521 (-28)), (Dyadic 1704944235 (-56)), (Dyadic 0 0), (Dyadic 7325947984300541 (-81))) ::
  (bf16, true, 6%Z, 1%Z, (Dyadic 1410399737 (-44)), (Dyadic 2076905397 (-37)), (Dyadic 113851705 (-11)), (Dyadic 1093817351 (-50)), (Dyadic 0 0), (Dyadic 3694860055238245 (-65))) ::
  (f32, false, 1%Z, 1%Z, (Dyadic 1978533519 (-22)), (Dyadic 1680148235 (-33)), (Dyadic 777295807 (-46)), (Dyadic 31244269 4), (Dyadic 8298571052875805 (-68)), (Dyadic 3281267355279705 (-48))) ::
  (f16, false, 6%Z, 1%Z, (Dyadic 649850445 (-35)), (Dyadic 521081005 (-57)), (Dyadic 679476191 (-47)), (Dyadic 1094966529 (-17)), (Dyadic 0 0), (Dyadic 2228997330695883 (-90))) ::
  (bf16, false, 9%Z, 1%Z, (Dyadic 424466527 (-32)), (Dyadic 1023371265 (-55)), (Dyadic 652665765 (-8)), (Dyadic 1290303283 4), (Dyadic 2533274790395913 (-198)), (Dyadic 5159833975424679 (-67))) ::
  (f32, false, 15%Z, 12%Z, (Dyadic 1890360423 10), (Dyadic 389796061 (-37)), (Dyadic 871439331 (-27)), (Dyadic 1207696995 (-39)), (Dyadic 5946559712722965 (-32)), (Dyadic 8635883581181093 (-41))) ::
  (f16, false, 10067588%Z, 1009418%Z, (Dyadic 1964915285 (-154)), (Dyadic 32740415 (-42)), (Dyadic 6735013 (-37)), (Dyadic 1844040613 (-51)), (Dyadic 495854723059713 (-176)), (Dyadic 3557773096069635 (-106))) ::
  (bf16, false, 15855673%Z, 10680819%Z, (Dyadic 368487187 (-1)), (Dyadic 2123152001 (-34)), (Dyadic 1343225807 (-15)), (Dyadic 419739403 (-39)), (Dyadic 983936144919745 (-23)), (Dyadic 486442563037649 (-25))) ::
  (f32, true, 4%Z, 0%Z, (Dyadic 0 0), (Dyadic 1539385033 (-56)), (Dyadic 1825240897 (-59)), (Dyadic 475141397 5), (Dyadic 0 0), (Dyadic 5714833575437685 (-67))) ::
  (f16, false, 8858404%Z, 5165752%Z, (Dyadic 349652511 (-16)), (Dyadic 1647908037 (-45)), (Dyadic 694258829 (-50)), (Dyadic 406341637 0), (Dyadic 3612435616701535 (-41)), (Dyadic 5626430138095923 (-56))) ::
  (bf16, false, 1%Z, 1%Z, (Dyadic 2054751135 (-137)), (Dyadic 1475543473 (-49)), (Dyadic 1178404439 (-3)), (Dyadic 405585465 (-30)), (Dyadic 281474976710657 (-198)), (Dyadic 1698119062596939 (-65))) ::
  (f32, true, 9%Z, 6%Z, (Dyadic 2049130271 (-9)), (Dyadic 391905365 (-42)), (Dyadic 694534001 (-47)), (Dyadic 1877514435 (-13)), (Dyadic 0 0), (Dyadic 5749074693400663 (-71))) ::
  (f16, true, 6%Z, 0%Z, (Dyadic 0 0), (Dyadic 1768315281 (-43)), (Dyadic 1529706911 7), (Dyadic 1710715255 (-33)), (Dyadic 0 0), (Dyadic 5283475305428323 (-50))) ::
  (bf16, false, 8267273%Z, 4364874%Z, (Dyadic 828212583 3), (Dyadic 456084765 (-30)), (Dyadic 1655842397 (-26)), (Dyadic 838780829 (-58)), (Dyadic 903760685449243 (-19)), (Dyadic 6142745896985277 (-23))) ::
  (f32, false, 18%Z, 7%Z, (Dyadic 2121584345 (-56)), (Dyadic 930849689 (-36)), (Dyadic 1470598309 (-54)), (Dyadic 994232463 (-41)), (Dyadic 1946562122874887 (-97)), (Dyadic 452124804117499 (-89))) ::
  (f16, false, 7660861%Z, 6967942%Z, (Dyadic 1185305375 (-139)), (Dyadic 2117279931 (-57)), (Dyadic 1788765335 3), (Dyadic 2083202269 (-43)), (Dyadic 1032392239997863 (-160)), (Dyadic 7397473263498613 (-68))) ::
  (bf16, true, 15562114%Z, 14401819%Z, (Dyadic 1009234903 (-79)), (Dyadic 2101286945 (-35)), (Dyadic 1379574555 0), (Dyadic 1574431813 (-29)), (Dyadic 0 0), (Dyadic 5662162010268031 (-49))) ::
  (f32, false, 8%Z, 6%Z, (Dyadic 1838922359 (-157)), (Dyadic 824879803 (-29)), (Dyadic 956861369 (-22)), (Dyadic 389619399 5), (Dyadic 3697988276060173 (-198)), (Dyadic 2511104046018855 (-40))) ::
  (f16, false, 8%Z, 3%Z, (Dyadic 1484089673 (-63)), (Dyadic 330229163 (-35)), (Dyadic 608827043 (-12)), (Dyadic 1034827577 (-23)), (Dyadic 3112361625911307 (-107)), (Dyadic 3142905250350299 (-64))) ::
  (bf16, false, 10%Z, 9%Z, (Dyadic 1810506301 (-70)), (Dyadic 64119969 (-43)), (Dyadic 2122871765 (-53)), (Dyadic 277476963 (-53)), (Dyadic 7593813820309531 (-113)), (Dyadic 4532050548060003 (-114))) ::
  (f32, false, 8%Z, 0%Z, (Dyadic 0 0), (Dyadic 2025609053 (-33)), (Dyadic 464639497 (-6)), (Dyadic 974906101 8), (Dyadic 281475110928385 (-195)), (Dyadic 7714974803475537 (-40))) ::
  (f16, false, 10%Z, 6%Z, (Dyadic 1239250351 (-102)), (Dyadic 624812725 (-47)), (Dyadic 1043936831 (-24)), (Dyadic 945840231 (-49)), (Dyadic 6497240880250903 (-146)), (Dyadic 5096075298147241 (-87))) ::
  (bf16, true, 13744722%Z, 9307489%Z, (Dyadic 1533550211 (-44)), (Dyadic 251945199 (-46)), (Dyadic 203901127 (-53)), (Dyadic 1474733529 6), (Dyadic 0 0), (Dyadic 5806081056861285 (-58))) ::
  (f32, false, 8%Z, 8%Z, (Dyadic 312375477 (-89)), (Dyadic 383462431 (-34)), (Dyadic 272505835 1), (Dyadic 81791039 10), (Dyadic 5240790850732051 (-134)), (Dyadic 7892757623576631 (-45))) ::
  (f16, false, 6%Z, 3%Z, (Dyadic 1782311925 (-46)), (Dyadic 1864427021 (-34)), (Dyadic 404801321 1), (Dyadic 1445407445 (-16)), (Dyadic 7475558036275227 (-91)), (Dyadic 5896644829886331 (-49))) ::
  (bf16, false, 2782763%Z, 2140058%Z, (Dyadic 1182371873 (-90)), (Dyadic 79422715 (-56)), (Dyadic 857427495 5), (Dyadic 1823373087 6), (Dyadic 1265171601708385 (-113)), (Dyadic 831774794066805 (-66))) ::
  (f32, true, 3863331%Z, 486083%Z, (Dyadic 188836873 (-51)), (Dyadic 1959011617 (-54)), (Dyadic 2060595091 (-31)), (Dyadic 1735087649 10), (Dyadic 0 0), (Dyadic 3319723404875153 (-57))) ::
  (f16, false, 17%Z, 0%Z, (Dyadic 0 0), (Dyadic 2108247717 (-55)), (Dyadic 416044753 7), (Dyadic 320849623 (-56)), (Dyadic 0 0), (Dyadic 6852884819938407 (-64))) ::
  (bf16, false, 13%Z, 9%Z, (Dyadic 2086145625 (-49)), (Dyadic 1046425317 (-46)), (Dyadic 1507522545 3), (Dyadic 1682815053 (-7)), (Dyadic 8749928939520031 (-92)), (Dyadic 3082907329348313 (-57))) ::
  (f32, false, 14%Z, 5%Z, (Dyadic 1385084583 (-135)), (Dyadic 1473131147 (-49)), (Dyadic 738086363 (-36)), (Dyadic 1169663019 (-44)), (Dyadic 3630919887359053 (-178)), (Dyadic 4273764761915597 (-100))) ::
  (f16, false, 7%Z, 5%Z, (Dyadic 1561169627 (-124)), (Dyadic 2041667415 (-52)), (Dyadic 2143696661 (-20)), (Dyadic 599608681 (-47)), (Dyadic 6548020011204631 (-168)), (Dyadic 8548700118652343 (-86))) ::
  (bf16, false, 3%Z, 0%Z, (Dyadic 0 0), (Dyadic 325888895 (-29)), (Dyadic 909941707 2), (Dyadic 1819106801 (-29)), (Dyadic 844424930131971 (-198)), (Dyadic 579208446370229 (-41))) ::
  (f32, false, 11882289%Z, 267095%Z, (Dyadic 1201769189 (-150)), (Dyadic 318840399 (-41)), (Dyadic 658763431 (-23)), (Dyadic 1167289491 (-24)), (Dyadic 5292216500343219 (-177)), (Dyadic 6189984838878689 (-81))) ::
  (f16, true, 3696874%Z, 2252020%Z, (Dyadic 596487587 (-66)), (Dyadic 806247991 (-35)), (Dyadic 114967059 12), (Dyadic 1601337749 (-16)), (Dyadic 0 0), (Dyadic 2896768667281313 (-41))) ::
  (bf16, false, 6%Z, 6%Z, (Dyadic 1370451015 (-75)), (Dyadic 260647709 (-40)), (Dyadic 691980399 (-19)), (Dyadic 661842907 2), (Dyadic 3592555108761613 (-118)), (Dyadic 2695707191053989 (-56))) ::
  (f32, false, 13731490%Z, 11252452%Z, (Dyadic 777218785 (-84)), (Dyadic 417177689 (-51)), (Dyadic 1921872735 (-57)), (Dyadic 1858666899 (-11)), (Dyadic 8745617071710851 (-108)), (Dyadic 3029187113210099 (-77))) ::
  (f16, false, 14%Z, 12%Z, (Dyadic 2048556407 (-80)), (Dyadic 1787579339 (-50)), (Dyadic 1597980681 8), (Dyadic 1720054885 (-5)), (Dyadic 5907184478322709 (-122)), (Dyadic 5579780783224803 (-56))) ::
  (bf16, false, 6818592%Z, 6174091%Z, (Dyadic 2098957417 (-129)), (Dyadic 810172301 (-56)), (Dyadic 1496792829 (-25)), (Dyadic 391358053 4), (Dyadic 1619894006659289 (-150)), (Dyadic 2477337231070775 (-69))) ::
  (f32, false, 11%Z, 3%Z, (Dyadic 731529123 (-46)), (Dyadic 674637199 (-29)), (Dyadic 218674681 (-47)), (Dyadic 2010249723 (-59)), (Dyadic 287648955629569 (-87)), (Dyadic 6361573887482937 (-91))) ::
  (f16, false, 4752497%Z, 2197949%Z, (Dyadic 915329017 (-60)), (Dyadic 1566367379 (-35)), (Dyadic 1724163273 (-2)), (Dyadic 2053470353 (-48)), (Dyadic 8047382329028493 (-86)), (Dyadic 5275015899527181 (-51))) ::
  (bf16, false, 11707962%Z, 6548394%Z, (Dyadic 1394921817 (-167)), (Dyadic 1384448303 (-38)), (Dyadic 387249729 (-9)), (Dyadic 2057050533 (-58)), (Dyadic 1571973584556957 (-177)), (Dyadic 4188703410256031 (-63))) ::
  (f32, false, 3%Z, 2%Z, (Dyadic 1608027891 (-40)), (Dyadic 1280906259 (-46)), (Dyadic 1044018173 (-46)), (Dyadic 402880215 (-47)), (Dyadic 843069726916611 (-82)), (Dyadic 8144012551247337 (-101))) ::
  (f16, false, 3%Z, 2%Z, (Dyadic 581042403 (-59)), (Dyadic 1813977651 (-38)), (Dyadic 509297153 (-54)), (Dyadic 1750172813 (-40)), (Dyadic 4874136950145041 (-106)), (Dyadic 6201575462679873 (-93))) ::
  (bf16, false, 15%Z, 10%Z, (Dyadic 605184583 (-113)), (Dyadic 2115344795 (-32)), (Dyadic 1821977113 (-30)), (Dyadic 782387171 (-30)), (Dyadic 1427809565934053 (-155)), (Dyadic 2286081334931703 (-74))) ::
  (f32, false, 6%Z, 6%Z, (Dyadic 797301615 (-69)), (Dyadic 2093041725 (-33)), (Dyadic 23691925 13), (Dyadic 585496327 7), (Dyadic 2508094014750729 (-112)), (Dyadic 8592565382394981 (-40))) ::
  (f16, false, 17%Z, 15%Z, (Dyadic 1370631925 (-39)), (Dyadic 289190223 (-29)), (Dyadic 543030157 (-14)), (Dyadic 1701499737 (-43)), (Dyadic 2515120547430409 (-80)), (Dyadic 4907717103302161 (-61))) ::
  (bf16, false, 19%Z, 0%Z, (Dyadic 0 0), (Dyadic 1386739299 (-34)), (Dyadic 1184409761 (-58)), (Dyadic 1788905865 7), (Dyadic 5348024557502483 (-198)), (Dyadic 4845691679323473 (-42))) ::
  (f32, false, 13%Z, 9%Z, (Dyadic 537185219 (-88)), (Dyadic 1746718267 (-43)), (Dyadic 1560804599 (-11)), (Dyadic 655102165 (-32)), (Dyadic 2534757876891657 (-131)), (Dyadic 5325044461475401 (-68))) ::
  (f16, false, 781206%Z, 274817%Z, (Dyadic 1667849401 (-115)), (Dyadic 1715792535 (-54)), (Dyadic 524654281 (-42)), (Dyadic 2095345321 (-37)), (Dyadic 3666813607881741 (-142)), (Dyadic 1783106718553785 (-104))) ::
  (bf16, false, 865888%Z, 51748%Z, (Dyadic 789403125 (-168)), (Dyadic 1965973213 (-43)), (Dyadic 686938389 (-26)), (Dyadic 1559205109 (-50)), (Dyadic 7438001067676451 (-183)), (Dyadic 5275664407198493 (-84))) ::
  (f32, false, 15%Z, 8%Z, (Dyadic 1961844273 (-94)), (Dyadic 377564077 (-47)), (Dyadic 1924819329 (-48)), (Dyadic 399405609 (-14)), (Dyadic 8228571281621021 (-137)), (Dyadic 4713009071063237 (-79))) ::
  (f16, false, 6%Z, 2%Z, (Dyadic 1355541735 (-22)), (Dyadic 2096824987 (-33)), (Dyadic 37820693 15), (Dyadic 1367552543 (-11)), (Dyadic 1421388530319365 (-66)), (Dyadic 4956710040869755 (-37))) ::
  (bf16, true, 5%Z, 1%Z, (Dyadic 401453715 (-143)), (Dyadic 2061230451 (-57)), (Dyadic 776145899 (-48)), (Dyadic 891932043 3), (Dyadic 0 0), (Dyadic 7182270839855371 (-70))) ::
  (f32, false, 2%Z, 1%Z, (Dyadic 345978407 (-50)), (Dyadic 80046423 (-51)), (Dyadic 428365659 3), (Dyadic 1564151003 (-13)), (Dyadic 5804554465574933 (-98)), (Dyadic 8573190964742359 (-69))) ::
  (f16, true, 12089594%Z, 10560357%Z, (Dyadic 1310344591 (-84)), (Dyadic 1005395639 (-48)), (Dyadic 257670043 (-35)), (Dyadic 5091889 (-36)), (Dyadic 0 0), (Dyadic 4068019676293953 (-100))) ::
  (bf16, false, 20%Z, 4%Z, (Dyadic 550012509 (-26)), (Dyadic 324496603 (-35)), (Dyadic 1150416367 (-8)), (Dyadic 1686823867 2), (Dyadic 6920758999646233 (-72)), (Dyadic 4282441435084373 (-50))) ::
  (f32, false, 12877706%Z, 4712578%Z, (Dyadic 683367341 (-9)), (Dyadic 1925104709 (-31)), (Dyadic 1607602837 (-46)), (Dyadic 338550577 (-37)), (Dyadic 6440843794230219 (-34)), (Dyadic 2887225395086663 (-33))) ::
  (f16, true, 6%Z, 4%Z, (Dyadic 657044947 (-3)), (Dyadic 286012895 (-46)), (Dyadic 1898817389 (-3)), (Dyadic 1116341707 (-31)), (Dyadic 0 0), (Dyadic 66298024098137 (-59))) ::
  (bf16, false, 16%Z, 1%Z, (Dyadic 927015599 (-26)), (Dyadic 1065013585 (-54)), (Dyadic 285629365 (-38)), (Dyadic 577071225 (-27)), (Dyadic 281474976710657 (-194)), (Dyadic 300267205735747 (-94))) ::
  (f32, false, 5%Z, 5%Z, (Dyadic 1558388863 0), (Dyadic 2146560563 (-37)), (Dyadic 319855605 (-5)), (Dyadic 301997591 (-6)), (Dyadic 8170445802045469 (-44)), (Dyadic 4099298578623129 (-49))) ::
  nil.

Definition xent_points : list (xent_row * dyadic * dyadic * dyadic * dyadic * dyadic * dyadic * dyadic) :=
  (XentRow 161545 468 288 1 false (Dyadic 1687799820762995 (-47)) (Dyadic 49 (-6)) (Dyadic 397537941 (-38)) (Dyadic 2215237264751431 (-48)) (Dyadic 1341520957 (-36)) (Dyadic 113074589 (-34)) (Dyadic 1606019173 (-28)) (Dyadic 1660492997 (-12)), (Dyadic 1400051791 (-30)), (Dyadic 234371 (-20)), (Dyadic 183913 (-19)), (Dyadic 133455 (-20)), (Dyadic 6200584317598563 (-79)), (Dyadic 762122117944505 (-75)), (Dyadic 2420602475846129 (-65))) ::
  (XentRow 37 259 650 14 true (Dyadic 8131064282924989 (-51)) (Dyadic 0 0) (Dyadic 2064652619 (-37)) (Dyadic 4700771538566009 (-51)) (Dyadic 1267294121 (-32)) (Dyadic 265102447 (-32)) (Dyadic 1121993355 (-37)) (Dyadic 1613088451 (-24)), (Dyadic 598904629 (-33)), (Dyadic 221907 (-20)), (Dyadic 192439 (-18)), (Dyadic 547849 (-20)), (Dyadic 6158623252599955 (-76)), (Dyadic 5893091461599615 (-75)), (Dyadic 7597049933444845 (-67))) ::
  (XentRow 11 13 386 12 false (Dyadic 5399580128524107 (-51)) (Dyadic 25 (-6)) (Dyadic 1160205475 (-25)) (Dyadic 5230843249507729 (-51)) (Dyadic 463908045 (-29)) (Dyadic 221628315 (-29)) (Dyadic 1182430207 (-26)) (Dyadic 2071835821 (-24)), (Dyadic 1818854001 (-27)), (Dyadic 430081 (-20)), (Dyadic 283253 (-19)), (Dyadic 136425 (-20)), (Dyadic 5638776640208855 (-65)), (Dyadic 4933294267056825 (-64)), (Dyadic 4096563886249341 (-65))) ::
  (XentRow 178296 566 131 32 false (Dyadic 1701685171204409 (-47)) (Dyadic 0 0) (Dyadic 2101030037 (-31)) (Dyadic 2180284125605649 (-48)) (Dyadic 1140168195 (-37)) (Dyadic 828797409 (-37)) (Dyadic 1268453313 (-34)) (Dyadic 1678769495 (-22)), (Dyadic 116924845 (-28)), (Dyadic 1027259 (-20)), (Dyadic 7503 (-13)), (Dyadic 66875 (-20)), (Dyadic 3812116915908193 (-66)), (Dyadic 58783692603537 (-59)), (Dyadic 4031785724377117 (-66))) ::
  (XentRow 12 298 430 22 false (Dyadic 1398878082754463 (-49)) (Dyadic 0 0) (Dyadic 1458504815 (-42)) (Dyadic 360648255710135 (-48)) (Dyadic 1370491097 (-28)) (Dyadic 166560525 (-33)) (Dyadic 869726775 (-26)) (Dyadic 131231971 (-19)), (Dyadic 1465863143 (-33)), (Dyadic 1002319 (-20)), (Dyadic 91015 (-18)), (Dyadic 638259 (-20)), (Dyadic 5985094552951847 (-79)), (Dyadic 6021792591821707 (-78)), (Dyadic 4745228579837553 (-67))) ::
  (XentRow 41 274 553 11 true (Dyadic 4181110443955751 (-50)) (Dyadic 0 0) (Dyadic 1062302695 (-34)) (Dyadic 6794304471428095 (-51)) (Dyadic 79564411 (-25)) (Dyadic 1060048819 (-27)) (Dyadic 1417440289 (-31)) (Dyadic 123032323 (-24)), (Dyadic 435196945 (-30)), (Dyadic 903181 (-20)), (Dyadic 915257 (-20)), (Dyadic 3019 (-18)), (Dyadic 6062496351712045 (-72)), (Dyadic 2947282783890257 (-70)), (Dyadic 5593699980994831 (-66))) ::
  (XentRow 104547 468 617 14 true (Dyadic 6506233293724141 (-49)) (Dyadic 0 0) (Dyadic 1695119147 (-27)) (Dyadic 6506233293724141 (-55)) (Dyadic 1073414967 (-27)) (Dyadic 1983094617 (-34)) (Dyadic 426440203 (-27)) (Dyadic 107355301 (-14)), (Dyadic 1070912707 (-33)), (Dyadic 21019 (-19)), (Dyadic 46937 (-18)), (Dyadic 72855 (-19)), (Dyadic 1476784274564111 (-66)), (Dyadic 2873037511546959 (-66)), (Dyadic 1228182840666543 (-67))) ::
  (XentRow 8 650 599 16 true (Dyadic 4682486076124019 (-51)) (Dyadic 0 0) (Dyadic 1688732013 (-39)) (Dyadic 3219209177335263 (-52)) (Dyadic 67434121 (-29)) (Dyadic 191679123 (-23)) (Dyadic 206166709 (-19)) (Dyadic 397451355 (-12)), (Dyadic 446771439 (-29)), (Dyadic 263037 (-19)), (Dyadic 479269 (-19)), (Dyadic 27029 (-16)), (Dyadic 5744086495600555 (-76)), (Dyadic 7107187400369529 (-62)), (Dyadic 1368643813252599 (-65))) ::
  (XentRow 8 839 789 7 false (Dyadic 4682486076124019 (-51)) (Dyadic 0 0) (Dyadic 1543237607 (-19)) (Dyadic 7609039873701531 (-54)) (Dyadic 19214523 (-25)) (Dyadic 573355291 (-23)) (Dyadic 973055697 (-21)) (Dyadic 1967198571 (-21)), (Dyadic 1588047349 (-35)), (Dyadic 547261 (-20)), (Dyadic 1017523 (-20)), (Dyadic 235131 (-19)), (Dyadic 6163145671018741 (-56)), (Dyadic 3378216666409015 (-41)), (Dyadic 2043423512001959 (-65))) ::
  (XentRow 44030 34 660 14 true (Dyadic 3009706794711343 (-48)) (Dyadic 0 0) (Dyadic 1422285687 (-38)) (Dyadic 5925360252087957 (-49)) (Dyadic 799063715 (-28)) (Dyadic 1265033563 (-31)) (Dyadic 1141683161 (-37)) (Dyadic 1448636297 (-26)), (Dyadic 1186894331 (-24)), (Dyadic 179201 (-19)), (Dyadic 369581 (-20)), (Dyadic 11179 (-20)), (Dyadic 5821736259371687 (-77)), (Dyadic 6218477404282145 (-77)), (Dyadic 1193479175852519 (-63))) ::
  (XentRow 22 302 303 31 true (Dyadic 6960408820565447 (-51)) (Dyadic 9 (-6)) (Dyadic 1072990433 (-27)) (Dyadic 3806473573746729 (-51)) (Dyadic 603983141 (-34)) (Dyadic 2061524099 (-36)) (Dyadic 983915199 (-28)) (Dyadic 42346981 (-16)), (Dyadic 184275899 (-28)), (Dyadic 135729 (-20)), (Dyadic 274875 (-20)), (Dyadic 69573 (-19)), (Dyadic 5622760732107667 (-67)), (Dyadic 2759150859474251 (-65)), (Dyadic 2524486605965155 (-64))) ::
  (XentRow 28 17 844 15 true (Dyadic 7503457495173667 (-51)) (Dyadic 0 0) (Dyadic 80995319 (-26)) (Dyadic 6565525308276959 (-52)) (Dyadic 1468075393 (-29)) (Dyadic 159155169 (-20)) (Dyadic 1558658085 (-30)) (Dyadic 1033526171 (-9)), (Dyadic 495299423 (-24)), (Dyadic 638857 (-20)), (Dyadic 454867 (-19)), (Dyadic 270877 (-20)), (Dyadic 3240421916711309 (-68)), (Dyadic 8973677172698149 (-69)), (Dyadic 3283092031570555 (-51))) ::
  (XentRow 170123 713 726 18 true (Dyadic 6780325167036507 (-49)) (Dyadic 1 0) (Dyadic 1585699031 (-20)) (Dyadic 8899176781735415 (-51)) (Dyadic 2070545745 (-37)) (Dyadic 778478007 (-30)) (Dyadic 1353568733 (-23)) (Dyadic 1048569587 (-23)), (Dyadic 1542790147 (-30)), (Dyadic 158323 (-18)), (Dyadic 177811 (-18)), (Dyadic 609 (-13)), (Dyadic 3641104187911953 (-56)), (Dyadic 2008421469025401 (-41)), (Dyadic 8029760227040307 (-65))) ::
  (XentRow 4 670 565 25 true (Dyadic 6243314768165359 (-52)) (Dyadic 0 0) (Dyadic 699851269 (-24)) (Dyadic 7023729114186029 (-53)) (Dyadic 832774079 (-28)) (Dyadic 187636553 (-23)) (Dyadic 1800997515 (-30)) (Dyadic 1858153697 (-29)), (Dyadic 1563905121 (-30)), (Dyadic 485195 (-20)), (Dyadic 196431 (-18)), (Dyadic 300529 (-20)), (Dyadic 4919731322334361 (-62)), (Dyadic 2422191790307293 (-60)), (Dyadic 840652981692779 (-64))) ::
  (XentRow 41 247 300 32 true (Dyadic 4181110443955751 (-50)) (Dyadic 0 0) (Dyadic 103663671 (-36)) (Dyadic 4573089548076603 (-51)) (Dyadic 748465897 (-32)) (Dyadic 1897707075 (-38)) (Dyadic 1779553033 (-38)) (Dyadic 648651753 (-22)), (Dyadic 171973825 (-23)), (Dyadic 218157 (-19)), (Dyadic 148091 (-19)), (Dyadic 35033 (-18)), (Dyadic 6915262526017531 (-78)), (Dyadic 6269482520369843 (-77)), (Dyadic 1258682296248731 (-64))) ::
  (XentRow 169853 402 275 20 false (Dyadic 1694857751686623 (-47)) (Dyadic 13 (-5)) (Dyadic 479780621 (-32)) (Dyadic 8262431539472287 (-50)) (Dyadic 376440913 (-33)) (Dyadic 1294268171 (-28)) (Dyadic 570163755 (-30)) (Dyadic 376412939 (-18)), (Dyadic 1961483889 (-26)), (Dyadic 221751 (-20)), (Dyadic 7693 (-14)), (Dyadic 270601 (-20)), (Dyadic 4683100913259161 (-72)), (Dyadic 8304706327629047 (-72)), (Dyadic 1417950692134369 (-65))) ::
  (XentRow 7 490 71 30 false (Dyadic 8763600222181975 (-52)) (Dyadic 21 (-6)) (Dyadic 208852661 (-17)) (Dyadic 6572700166636481 (-53)) (Dyadic 1674668095 (-26)) (Dyadic 863069637 (-36)) (Dyadic 1846278027 (-34)) (Dyadic 562123873 (-27)), (Dyadic 1614914063 (-29)), (Dyadic 26091 (-17)), (Dyadic 238447 (-19)), (Dyadic 134083 (-19)), (Dyadic 8729263457635707 (-59)), (Dyadic 8495288803727011 (-58)), (Dyadic 7484249031067555 (-67))) ::
  (XentRow 26 892 882 26 true (Dyadic 1834145294321331 (-49)) (Dyadic 1 (-5)) (Dyadic 575437367 (-35)) (Dyadic 4699997316698411 (-51)) (Dyadic 312177125 (-22)) (Dyadic 587739217 (-37)) (Dyadic 803809577 (-25)) (Dyadic 76757499 (-14)), (Dyadic 1105173067 (-24)), (Dyadic 7011 (-18)), (Dyadic 496089 (-20)), (Dyadic 468045 (-20)), (Dyadic 1415985514342171 (-75)), (Dyadic 4928532290599695 (-76)), (Dyadic 1046297782850743 (-61))) ::
  (XentRow 13863 948 394 7 true (Dyadic 5368841714685173 (-49)) (Dyadic 13 (-6)) (Dyadic 794414315 (-39)) (Dyadic 5368841714685173 (-55)) (Dyadic 831331757 (-37)) (Dyadic 1743551677 (-35)) (Dyadic 1401865861 (-23)) (Dyadic 961263501 (-9)), (Dyadic 929082577 (-30)), (Dyadic 1037699 (-20)), (Dyadic 12881 (-19)), (Dyadic 1011937 (-20)), (Dyadic 850588446007851 (-73)), (Dyadic 1648726175337537 (-60)), (Dyadic 3052672653348601 (-62))) ::
  (XentRow 11 873 200 3 false (Dyadic 5399580128524107 (-51)) (Dyadic 0 0) (Dyadic 1297343903 (-39)) (Dyadic 5230843249507729 (-52)) (Dyadic 1718912409 (-36)) (Dyadic 1445831787 (-27)) (Dyadic 678737037 (-32)) (Dyadic 685859073 (-26)), (Dyadic 516960567 (-36)), (Dyadic 216775 (-18)), (Dyadic 522293 (-20)), (Dyadic 344807 (-20)), (Dyadic 8151814224498589 (-76)), (Dyadic 2014244027454427 (-73)), (Dyadic 8160955871463191 (-67))) ::
  (XentRow 36 518 207 8 true (Dyadic 4034683638976513 (-50)) (Dyadic 0 0) (Dyadic 1978165389 (-19)) (Dyadic 4539019093848577 (-51)) (Dyadic 301073489 (-32)) (Dyadic 1907532575 (-30)) (Dyadic 1169539609 (-36)) (Dyadic 155818319 (-14)), (Dyadic 1397347369 (-24)), (Dyadic 295917 (-20)), (Dyadic 25363 (-19)), (Dyadic 245191 (-20)), (Dyadic 1846624323637137 (-55)), (Dyadic 2785948336088061 (-55)), (Dyadic 172381509258411 (-61))) ::
  (XentRow 36445 500 869 21 true (Dyadic 2956489180789435 (-48)) (Dyadic 0 0) (Dyadic 1819262217 (-40)) (Dyadic 1847805737993397 (-48)) (Dyadic 1925751817 (-31)) (Dyadic 1813023771 (-32)) (Dyadic 1948677603 (-24)) (Dyadic 124514723 (-19)), (Dyadic 127568773 (-34)), (Dyadic 425103 (-20)), (Dyadic 810045 (-20)), (Dyadic 192471 (-19)), (Dyadic 2236101525898551 (-76)), (Dyadic 6186993719791193 (-63)), (Dyadic 2649240944275035 (-63))) ::
  (XentRow 34 480 526 22 false (Dyadic 3970328986158843 (-50)) (Dyadic 0 0) (Dyadic 323338317 (-17)) (Dyadic 5211056794333481 (-52)) (Dyadic 911348191 (-24)) (Dyadic 600304989 (-22)) (Dyadic 1705010435 (-28)) (Dyadic 715876995 (-13)), (Dyadic 130255105 (-31)), (Dyadic 398389 (-19)), (Dyadic 378515 (-19)), (Dyadic 9937 (-18)), (Dyadic 5701414610461839 (-56)), (Dyadic 5669517874564229 (-55)), (Dyadic 1915811580100731 (-65))) ::
  (XentRow 5 85 789 12 false (Dyadic 7248263982714163 (-52)) (Dyadic 0 0) (Dyadic 1458408065 (-29)) (Dyadic 5322943862305713 (-52)) (Dyadic 659487821 (-37)) (Dyadic 1257168823 (-36)) (Dyadic 630234779 (-29)) (Dyadic 1762600797 (-21)), (Dyadic 2015631257 (-30)), (Dyadic 171811 (-18)), (Dyadic 285521 (-19)), (Dyadic 58101 (-19)), (Dyadic 6980576233096679 (-68)), (Dyadic 818143190529841 (-64)), (Dyadic 7705359629737445 (-69))) ::
  (XentRow 71278 404 40 20 false (Dyadic 3145297936635985 (-48)) (Dyadic 0 0) (Dyadic 498596901 (-39)) (Dyadic 3538460178715483 (-50)) (Dyadic 1233373019 (-34)) (Dyadic 2096973707 (-26)) (Dyadic 1705577407 (-29)) (Dyadic 261653771 (-22)), (Dyadic 1342282697 (-25)), (Dyadic 250441 (-19)), (Dyadic 1001123 (-20)), (Dyadic 500241 (-20)), (Dyadic 1418911508667899 (-76)), (Dyadic 4891909695149259 (-77)), (Dyadic 5591176847832983 (-67))) ::
  (XentRow 31 767 701 16 false (Dyadic 3866325873628589 (-50)) (Dyadic 21 (-5)) (Dyadic 338758973 (-24)) (Dyadic 8699233215664325 (-53)) (Dyadic 1639065257 (-25)) (Dyadic 557074121 (-34)) (Dyadic 1177654857 (-31)) (Dyadic 681714865 (-22)), (Dyadic 224409147 (-24)), (Dyadic 23763 (-16)), (Dyadic 415419 (-19)), (Dyadic 225315 (-19)), (Dyadic 3936761773666121 (-63)), (Dyadic 7519397514147579 (-63)), (Dyadic 7513505149091241 (-65))) ::
  (XentRow 22 456 782 27 true (Dyadic 6960408820565447 (-51)) (Dyadic 5 (-5)) (Dyadic 287506513 (-17)) (Dyadic 1332265750811355 (-49)) (Dyadic 1708160441 (-24)) (Dyadic 838660955 (-28)) (Dyadic 796740787 (-27)) (Dyadic 1119371931 (-10)), (Dyadic 753352211 (-30)), (Dyadic 212965 (-20)), (Dyadic 650519 (-20)), (Dyadic 218777 (-19)), (Dyadic 5678706293818613 (-58)), (Dyadic 698325450093337 (-54)), (Dyadic 6554446209138185 (-54))) ::
  (XentRow 9955 980 104 11 false (Dyadic 2591210845791111 (-48)) (Dyadic 55 (-6)) (Dyadic 797840203 (-39)) (Dyadic 1821945125946875 (-48)) (Dyadic 466166277 (-31)) (Dyadic 925575703 (-34)) (Dyadic 374456251 (-24)) (Dyadic 493032627 (-23)), (Dyadic 35346859 (-18)), (Dyadic 58775 (-20)), (Dyadic 342981 (-19)), (Dyadic 627187 (-20)), (Dyadic 392881149273469 (-80)), (Dyadic 6846985415427345 (-79)), (Dyadic 4984298890122099 (-66))) ::
  (XentRow 30 51 604 17 false (Dyadic 7658815630333595 (-51)) (Dyadic 0 0) (Dyadic 347921147 (-19)) (Dyadic 7060470659213783 (-51)) (Dyadic 1390544371 (-26)) (Dyadic 53618739 (-27)) (Dyadic 1100238147 (-31)) (Dyadic 1131265655 (-23)), (Dyadic 650751149 (-27)), (Dyadic 523221 (-19)), (Dyadic 338973 (-19)), (Dyadic 23031 (-16)), (Dyadic 43481414091661 (-52)), (Dyadic 2540102888475471 (-57)), (Dyadic 20621741161233 (-60))) ::
  (XentRow 35 885 389 20 true (Dyadic 8005932102448069 (-51)) (Dyadic 0 0) (Dyadic 1154753931 (-39)) (Dyadic 8005932102448069 (-51)) (Dyadic 91239679 (-29)) (Dyadic 1176302475 (-36)) (Dyadic 1352525459 (-28)) (Dyadic 2134673277 (-16)), (Dyadic 1497817473 (-23)), (Dyadic 165305 (-20)), (Dyadic 1515 (-19)), (Dyadic 162275 (-20)), (Dyadic 572659795691867 (-83)), (Dyadic 812698143950167 (-74)), (Dyadic 8547667624463907 (-65))) ::
  (XentRow 86624 338 94 25 false (Dyadic 1600091257037725 (-47)) (Dyadic 13 (-4)) (Dyadic 454580441 (-16)) (Dyadic 275015684803359 (-46)) (Dyadic 1776823003 (-36)) (Dyadic 787996359 (-24)) (Dyadic 174160747 (-30)) (Dyadic 579693763 (-24)), (Dyadic 59909383 (-20)), (Dyadic 247901 (-18)), (Dyadic 32715 (-19)), (Dyadic 463087 (-19)), (Dyadic 2603296458197017 (-53)), (Dyadic 8449933052035195 (-54)), (Dyadic 5422296287418087 (-67))) ::
  (XentRow 26 686 57 10 false (Dyadic 1834145294321331 (-49)) (Dyadic 0 0) (Dyadic 1018989051 (-27)) (Dyadic 5273167721173827 (-51)) (Dyadic 455419739 (-28)) (Dyadic 791964159 (-26)) (Dyadic 659709495 (-28)) (Dyadic 2076865401 (-20)), (Dyadic 2144200865 (-28)), (Dyadic 84083 (-20)), (Dyadic 241265 (-19)), (Dyadic 398447 (-20)), (Dyadic 2280839992674093 (-66)), (Dyadic 8690774238599961 (-67)), (Dyadic 1788034480256351 (-65))) ::
  (XentRow 16 344 645 32 false (Dyadic 6243314768165359 (-51)) (Dyadic 29 (-5)) (Dyadic 1717932265 (-41)) (Dyadic 6243314768165359 (-54)) (Dyadic 1739626185 (-32)) (Dyadic 1532523809 (-31)) (Dyadic 225162385 (-27)) (Dyadic 607498839 (-26)), (Dyadic 603710573 (-26)), (Dyadic 994159 (-20)), (Dyadic 128349 (-19)), (Dyadic 737461 (-20)), (Dyadic 2270217879023983 (-76)), (Dyadic 1086184484719045 (-74)), (Dyadic 545253804502671 (-63))) ::
  (XentRow 70543 242 619 15 false (Dyadic 6284760744196259 (-49)) (Dyadic 25 (-6)) (Dyadic 861545571 (-40)) (Dyadic 5597365037799793 (-49)) (Dyadic 1594944721 (-36)) (Dyadic 337992181 (-25)) (Dyadic 141984841 (-30)) (Dyadic 1356902367 (-10)), (Dyadic 109311351 (-24)), (Dyadic 9937 (-20)), (Dyadic 14435 (-19)), (Dyadic 18933 (-20)), (Dyadic 7709605882295365 (-85)), (Dyadic 7175038246729783 (-84)), (Dyadic 1378067289378517 (-62))) ::
  (XentRow 7 735 537 5 true (Dyadic 8763600222181975 (-52)) (Dyadic 0 0) (Dyadic 857715885 (-28)) (Dyadic 7120425180522855 (-54)) (Dyadic 1130383055 (-35)) (Dyadic 1715700955 (-31)) (Dyadic 769752539 (-24)) (Dyadic 1073944917 (-19)), (Dyadic 2048192851 (-25)), (Dyadic 649179 (-20)), (Dyadic 857087 (-20)), (Dyadic 51977 (-18)), (Dyadic 8228526688307671 (-66)), (Dyadic 1844708369734497 (-63)), (Dyadic 5608073580041569 (-68))) ::
  (XentRow 13 786 470 15 true (Dyadic 360984530327749 (-47)) (Dyadic 33 (-6)) (Dyadic 241031159 (-29)) (Dyadic 2391522513421337 (-50)) (Dyadic 2072060013 (-35)) (Dyadic 2019656425 (-37)) (Dyadic 1643910331 (-35)) (Dyadic 1184895227 (-15)), (Dyadic 1834565365 (-24)), (Dyadic 77605 (-19)), (Dyadic 131023 (-18)), (Dyadic 184441 (-19)), (Dyadic 2582814698122401 (-75)), (Dyadic 8839650064872525 (-70)), (Dyadic 5856954757261289 (-57))) ::
  (XentRow 168111 645 614 11 false (Dyadic 846703452792599 (-46)) (Dyadic 47 (-6)) (Dyadic 1689945755 (-42)) (Dyadic 257979958272745 (-45)) (Dyadic 1898329797 (-37)) (Dyadic 448870703 (-32)) (Dyadic 1492126739 (-32)) (Dyadic 79742629 (-22)), (Dyadic 895967281 (-29)), (Dyadic 34003 (-20)), (Dyadic 171805 (-18)), (Dyadic 653217 (-20)), (Dyadic 6552303048688075 (-83)), (Dyadic 6035407301438015 (-82)), (Dyadic 885986085110099 (-64))) ::
  (XentRow 25 101 235 29 false (Dyadic 7248263982714163 (-51)) (Dyadic 23 (-5)) (Dyadic 1912854421 (-35)) (Dyadic 7248263982714163 (-52)) (Dyadic 758044267 (-25)) (Dyadic 427680543 (-21)) (Dyadic 633598573 (-33)) (Dyadic 113716553 (-22)), (Dyadic 1303131195 (-23)), (Dyadic 224115 (-20)), (Dyadic 16811 (-17)), (Dyadic 89627 (-20)), (Dyadic 2572196211374499 (-80)), (Dyadic 1273975443989227 (-71)), (Dyadic 5258455634446325 (-67))) ::
  (XentRow 33 661 188 24 true (Dyadic 7873435075459281 (-51)) (Dyadic 7 (-4)) (Dyadic 1616943897 (-23)) (Dyadic 4920896922162051 (-52)) (Dyadic 1148479611 (-27)) (Dyadic 191966933 (-34)) (Dyadic 587659207 (-22)) (Dyadic 2069285175 (-16)), (Dyadic 2077235581 (-34)), (Dyadic 334063 (-19)), (Dyadic 204809 (-18)), (Dyadic 75555 (-19)), (Dyadic 7668898488996759 (-60)), (Dyadic 8642580309481619 (-46)), (Dyadic 5592079089886293 (-60))) ::
  (XentRow 187991 951 671 0 false (Dyadic 6836548321240433 (-49)) (Dyadic 0 0) (Dyadic 167078573 (-32)) (Dyadic 5981979781085379 (-51)) (Dyadic 976238817 (-26)) (Dyadic 1298140649 (-35)) (Dyadic 879005421 (-24)) (Dyadic 1820004461 (-10)), (Dyadic 649613471 (-31)), (Dyadic 354819 (-19)), (Dyadic 11043 (-20)), (Dyadic 698595 (-20)), (Dyadic 463684888426911 (-68)), (Dyadic 3884872161980871 (-70)), (Dyadic 4605980333093905 (-66))) ::
  (XentRow 17 527 741 15 false (Dyadic 3189914640138173 (-50)) (Dyadic 13 (-4)) (Dyadic 1407933295 (-29)) (Dyadic 996848325043179 (-52)) (Dyadic 1077182151 (-28)) (Dyadic 453579919 (-33)) (Dyadic 1047991135 (-23)) (Dyadic 1489976975 (-15)), (Dyadic 1634759181 (-35)), (Dyadic 694023 (-20)), (Dyadic 280735 (-19)), (Dyadic 132553 (-20)), (Dyadic 1317950697605155 (-64)), (Dyadic 7817106111373557 (-52)), (Dyadic 6956736261020813 (-56))) ::
  (XentRow 34 237 228 1 true (Dyadic 3970328986158843 (-50)) (Dyadic 11 (-5)) (Dyadic 640583009 (-30)) (Dyadic 7196221287412903 (-52)) (Dyadic 683964503 (-25)) (Dyadic 906257505 (-27)) (Dyadic 933879329 (-23)) (Dyadic 1953247235 (-23)), (Dyadic 2013726403 (-26)), (Dyadic 180223 (-18)), (Dyadic 449589 (-20)), (Dyadic 271303 (-20)), (Dyadic 4956905418854783 (-69)), (Dyadic 7388659985579599 (-54)), (Dyadic 2305301961341719 (-65))) ::
  (XentRow 52083 157 193 28 true (Dyadic 6113970818260203 (-49)) (Dyadic 13 (-4)) (Dyadic 1258443631 (-28)) (Dyadic 3821231761412627 (-52)) (Dyadic 1122589585 (-33)) (Dyadic 1104337365 (-34)) (Dyadic 1140185839 (-35)) (Dyadic 829532239 (-29)), (Dyadic 518312929 (-35)), (Dyadic 346695 (-20)), (Dyadic 247311 (-18)), (Dyadic 642549 (-20)), (Dyadic 6362395275915719 (-67)), (Dyadic 3068398510091255 (-65)), (Dyadic 6772514881373209 (-68))) ::
  (XentRow 16 757 883 20 false (Dyadic 6243314768165359 (-51)) (Dyadic 13 (-4)) (Dyadic 862086533 (-33)) (Dyadic 8584557806227369 (-52)) (Dyadic 924103813 (-37)) (Dyadic 2076236697 (-38)) (Dyadic 1368263153 (-35)) (Dyadic 1826759775 (-20)), (Dyadic 491899827 (-24)), (Dyadic 220089 (-18)), (Dyadic 279351 (-20)), (Dyadic 601005 (-20)), (Dyadic 6115261218270353 (-70)), (Dyadic 5659382922722729 (-69)), (Dyadic 5458933416632431 (-60))) ::
  (XentRow 32 174 18 3 true (Dyadic 7804143460206699 (-51)) (Dyadic 21 (-6)) (Dyadic 316362189 (-31)) (Dyadic 2560734572880323 (-50)) (Dyadic 1959363245 (-35)) (Dyadic 1021174313 (-26)) (Dyadic 1386052123 (-37)) (Dyadic 498953187 (-21)), (Dyadic 661852705 (-36)), (Dyadic 923497 (-20)), (Dyadic 9791 (-19)), (Dyadic 903915 (-20)), (Dyadic 8430462424495997 (-72)), (Dyadic 2007106451013825 (-69)), (Dyadic 5735853258805207 (-67))) ::
  (XentRow 73823 186 825 32 false (Dyadic 3155172813964557 (-48)) (Dyadic 7 (-4)) (Dyadic 508143017 (-32)) (Dyadic 2612877486564399 (-48)) (Dyadic 952840947 (-34)) (Dyadic 634369233 (-23)) (Dyadic 1511388015 (-31)) (Dyadic 1933918427 (-14)), (Dyadic 90726975 (-20)), (Dyadic 121283 (-20)), (Dyadic 101415 (-19)), (Dyadic 81547 (-20)), (Dyadic 5546897060501829 (-73)), (Dyadic 7905658791337991 (-73)), (Dyadic 4916085485292909 (-66))) ::
  (XentRow 4 523 824 22 true (Dyadic 6243314768165359 (-52)) (Dyadic 5 (-4)) (Dyadic 1978715315 (-31)) (Dyadic 7804143460206699 (-53)) (Dyadic 1621016313 (-26)) (Dyadic 59302703 (-28)) (Dyadic 1544925205 (-26)) (Dyadic 2028557349 (-23)), (Dyadic 1375700267 (-27)), (Dyadic 452709 (-19)), (Dyadic 617955 (-20)), (Dyadic 287463 (-20)), (Dyadic 336483778282575 (-63)), (Dyadic 5326844124726373 (-66)), (Dyadic 1122736585436805 (-60))) ::
  (XentRow 40 335 506 20 true (Dyadic 8306618067481101 (-51)) (Dyadic 3 (-6)) (Dyadic 765726551 (-28)) (Dyadic 5840590828697649 (-51)) (Dyadic 2129180699 (-32)) (Dyadic 879169669 (-37)) (Dyadic 36489101 (-25)) (Dyadic 1122456295 (-15)), (Dyadic 1543584559 (-31)), (Dyadic 404757 (-19)), (Dyadic 46851 (-19)), (Dyadic 178953 (-18)), (Dyadic 2648908249782551 (-65)), (Dyadic 5187611023607489 (-65)), (Dyadic 6015230447322485 (-62))) ::
  (XentRow 72272 698 688 7 true (Dyadic 6298392197860337 (-49)) (Dyadic 0 0) (Dyadic 391849547 (-37)) (Dyadic 8069815003508557 (-50)) (Dyadic 1015437231 (-32)) (Dyadic 2128007951 (-35)) (Dyadic 1927085567 (-31)) (Dyadic 1945533953 (-11)), (Dyadic 1255440087 (-34)), (Dyadic 201469 (-19)), (Dyadic 619095 (-20)), (Dyadic 216157 (-20)), (Dyadic 8009772362353985 (-77)), (Dyadic 7894037358302239 (-76)), (Dyadic 6355707339557663 (-64))) ::
  (XentRow 9 455 811 18 false (Dyadic 2473854946935173 (-50)) (Dyadic 0 0) (Dyadic 2132440895 (-34)) (Dyadic 5566173630604139 (-54)) (Dyadic 1400937619 (-24)) (Dyadic 2059903387 (-26)) (Dyadic 316873851 (-34)) (Dyadic 501274917 (-27)), (Dyadic 1764804321 (-35)), (Dyadic 249877 (-18)), (Dyadic 1012065 (-20)), (Dyadic 12557 (-20)), (Dyadic 5363641528028671 (-70)), (Dyadic 2635569488235307 (-68)), (Dyadic 1963879262560643 (-65))) ::
  (XentRow 32 343 919 4 false (Dyadic 7804143460206699 (-51)) (Dyadic 21 (-5)) (Dyadic 758409613 (-34)) (Dyadic 2682674314446053 (-52)) (Dyadic 999291397 (-33)) (Dyadic 1802368719 (-30)) (Dyadic 835877855 (-28)) (Dyadic 1367055877 (-10)), (Dyadic 706060545 (-27)), (Dyadic 701735 (-20)), (Dyadic 170663 (-20)), (Dyadic 4149 (-13)), (Dyadic 3498286653969923 (-72)), (Dyadic 6675151874709179 (-72)), (Dyadic 1695876607835221 (-50))) ::
  (XentRow 119832 149 545 2 false (Dyadic 822881260501461 (-46)) (Dyadic 21 (-6)) (Dyadic 1399132561 (-35)) (Dyadic 5451588350822179 (-49)) (Dyadic 1043480171 (-34)) (Dyadic 416236017 (-26)) (Dyadic 1018440285 (-26)) (Dyadic 1209867451 (-18)), (Dyadic 1543951883 (-36)), (Dyadic 205837 (-20)), (Dyadic 148137 (-19)), (Dyadic 90437 (-20)), (Dyadic 7848600938662157 (-76)), (Dyadic 4009044748845205 (-74)), (Dyadic 8435085569809409 (-69))) ::
  (XentRow 24 795 507 20 false (Dyadic 894542627882399 (-48)) (Dyadic 0 0) (Dyadic 1673659259 (-36)) (Dyadic 4696348796382595 (-51)) (Dyadic 13030025 (-24)) (Dyadic 995114277 (-28)) (Dyadic 2134602281 (-37)) (Dyadic 1325172281 (-22)), (Dyadic 648568743 (-29)), (Dyadic 18067 (-20)), (Dyadic 147277 (-19)), (Dyadic 276487 (-20)), (Dyadic 4153377659814183 (-77)), (Dyadic 491034348297197 (-73)), (Dyadic 277256086494791 (-62))) ::
  (XentRow 4 978 323 2 true (Dyadic 6243314768165359 (-52)) (Dyadic 0 0) (Dyadic 403528357 (-28)) (Dyadic 6243314768165359 (-54)) (Dyadic 1749099059 (-26)) (Dyadic 162775051 (-27)) (Dyadic 1083589157 (-24)) (Dyadic 182562859 (-24)), (Dyadic 692142977 (-31)), (Dyadic 116875 (-17)), (Dyadic 184895 (-18)), (Dyadic 48855 (-18)), (Dyadic 3012520746819361 (-65)), (Dyadic 1596191519738113 (-63)), (Dyadic 59425792478103 (-61))) ::
  (XentRow 197415 768 865 6 true (Dyadic 3432042233995413 (-48)) (Dyadic 0 0) (Dyadic 1809069005 (-23)) (Dyadic 160876979718535 (-47)) (Dyadic 98862981 (-33)) (Dyadic 1487491847 (-37)) (Dyadic 1075745093 (-24)) (Dyadic 677510463 (-25)), (Dyadic 356734075 (-20)), (Dyadic 76653 (-19)), (Dyadic 654763 (-20)), (Dyadic 501457 (-20)), (Dyadic 3137522647441661 (-66)), (Dyadic 8169239653936375 (-61)), (Dyadic 4371710754634841 (-66))) ::
  (XentRow 28 483 850 15 true (Dyadic 7503457495173667 (-51)) (Dyadic 9 (-5)) (Dyadic 1351451527 (-27)) (Dyadic 644828378491487 (-49)) (Dyadic 1469877483 (-27)) (Dyadic 186700743 (-33)) (Dyadic 2054069921 (-30)) (Dyadic 1406256257 (-14)), (Dyadic 1212275677 (-35)), (Dyadic 635903 (-20)), (Dyadic 73825 (-18)), (Dyadic 340603 (-20)), (Dyadic 8696860833980533 (-65)), (Dyadic 8577293037568151 (-64)), (Dyadic 6331063363300625 (-57))) ::
  (XentRow 6 234 864 28 true (Dyadic 4034683638976513 (-51)) (Dyadic 0 0) (Dyadic 972367519 (-35)) (Dyadic 3530348184104449 (-52)) (Dyadic 1984240727 (-25)) (Dyadic 742466761 (-23)) (Dyadic 436258007 (-36)) (Dyadic 1329232805 (-14)), (Dyadic 931190835 (-32)), (Dyadic 204681 (-19)), (Dyadic 158615 (-18)), (Dyadic 112549 (-19)), (Dyadic 1604282577672775 (-72)), (Dyadic 6253966675670639 (-73)), (Dyadic 1612759422473943 (-65))) ::
  (XentRow 79061 541 712 20 false (Dyadic 6348935492713139 (-49)) (Dyadic 0 0) (Dyadic 1723447335 (-39)) (Dyadic 6150531258565853 (-50)) (Dyadic 1851881121 (-31)) (Dyadic 352110527 (-32)) (Dyadic 865297177 (-33)) (Dyadic 1391069395 (-27)), (Dyadic 106977257 (-33)), (Dyadic 980761 (-20)), (Dyadic 24667 (-19)), (Dyadic 931427 (-20)), (Dyadic 2537134869062413 (-74)), (Dyadic 2501208237619803 (-73)), (Dyadic 1714991914750447 (-65))) ::
  (XentRow 27 221 103 0 false (Dyadic 463847802550345 (-47)) (Dyadic 27 (-5)) (Dyadic 1528810731 (-31)) (Dyadic 5914059482516899 (-51)) (Dyadic 1777179809 (-30)) (Dyadic 83386523 (-26)) (Dyadic 407635657 (-20)) (Dyadic 1407101277 (-30)), (Dyadic 355182381 (-22)), (Dyadic 757579 (-20)), (Dyadic 324255 (-19)), (Dyadic 109069 (-20)), (Dyadic 997598376875477 (-66)), (Dyadic 4632780447526563 (-53)), (Dyadic 4553316587878171 (-68))) ::
  (XentRow 9 894 513 21 true (Dyadic 2473854946935173 (-50)) (Dyadic 21 (-5)) (Dyadic 1392862753 (-20)) (Dyadic 2551162914026897 (-51)) (Dyadic 2102882389 (-38)) (Dyadic 2124791007 (-35)) (Dyadic 139555721 (-29)) (Dyadic 606908819 (-21)), (Dyadic 287122557 (-26)), (Dyadic 899523 (-20)), (Dyadic 452351 (-20)), (Dyadic 111793 (-18)), (Dyadic 2740148766363755 (-55)), (Dyadic 5381108914184657 (-55)), (Dyadic 1671969746323109 (-61))) ::
  (XentRow 58381 301 986 27 false (Dyadic 772279077744355 (-46)) (Dyadic 27 (-5)) (Dyadic 1674344441 (-41)) (Dyadic 0 0) (Dyadic 1060110401 (-27)) (Dyadic 875661765 (-22)) (Dyadic 1055787775 (-23)) (Dyadic 746094823 (-11)), (Dyadic 1741892717 (-31)), (Dyadic 36617 (-20)), (Dyadic 441337 (-20)), (Dyadic 25295 (-16)), (Dyadic 315607088022517 (-78)), (Dyadic 3923822316945773 (-67)), (Dyadic 6382490226139769 (-64))) ::
  (XentRow 2 139 431 13 false (Dyadic 6243314768165359 (-53)) (Dyadic 47 (-6)) (Dyadic 1081933011 (-40)) (Dyadic 5462900422144689 (-56)) (Dyadic 684006615 (-34)) (Dyadic 1959057851 (-30)) (Dyadic 1985194987 (-34)) (Dyadic 1417665905 (-30)), (Dyadic 1668020603 (-36)), (Dyadic 93241 (-18)), (Dyadic 291651 (-20)), (Dyadic 81313 (-20)), (Dyadic 1763179683539901 (-78)), (Dyadic 1694318592788003 (-77)), (Dyadic 8596080338104527 (-68))) ::
  (XentRow 7 749 321 15 false (Dyadic 8763600222181975 (-52)) (Dyadic 0 0) (Dyadic 649978711 (-33)) (Dyadic 1506243788187527 (-52)) (Dyadic 1996599953 (-38)) (Dyadic 1566752405 (-26)) (Dyadic 489605751 (-36)) (Dyadic 1950496633 (-22)), (Dyadic 1200131721 (-27)), (Dyadic 94611 (-20)), (Dyadic 542105 (-20)), (Dyadic 223747 (-19)), (Dyadic 3685941936689527 (-73)), (Dyadic 7023987708468701 (-73)), (Dyadic 7996255445508041 (-67))) ::
  (XentRow 54973 356 41 27 true (Dyadic 6144372117413901 (-49)) (Dyadic 43 (-6)) (Dyadic 1393705545 (-27)) (Dyadic 480029071672961 (-48)) (Dyadic 1284105541 (-37)) (Dyadic 474493151 (-22)) (Dyadic 717144029 (-36)) (Dyadic 450623215 (-24)), (Dyadic 1131424869 (-37)), (Dyadic 704761 (-20)), (Dyadic 119519 (-17)), (Dyadic 251391 (-20)), (Dyadic 4971043100475997 (-64)), (Dyadic 76227180754925 (-57)), (Dyadic 7681233199716541 (-52))) ::
  (XentRow 26 30 946 17 true (Dyadic 1834145294321331 (-49)) (Dyadic 13 (-5)) (Dyadic 1085930627 (-41)) (Dyadic 5158533640278743 (-51)) (Dyadic 669429437 (-24)) (Dyadic 2135139201 (-32)) (Dyadic 1183658151 (-30)) (Dyadic 12440293 (-9)), (Dyadic 1746929119 (-36)), (Dyadic 923103 (-20)), (Dyadic 378673 (-20)), (Dyadic 272215 (-19)), (Dyadic 1663490151073445 (-78)), (Dyadic 3173238583270491 (-78)), (Dyadic 775715676638525 (-55))) ::
  (XentRow 35 40 125 19 false (Dyadic 8005932102448069 (-51)) (Dyadic 0 0) (Dyadic 665111601 (-23)) (Dyadic 1501112269209013 (-50)) (Dyadic 366124001 (-30)) (Dyadic 677914637 (-34)) (Dyadic 1856186133 (-33)) (Dyadic 1773083249 (-30)), (Dyadic 352605633 (-35)), (Dyadic 230475 (-18)), (Dyadic 108979 (-20)), (Dyadic 812921 (-20)), (Dyadic 4618863632578397 (-62)), (Dyadic 1103085108832283 (-59)), (Dyadic 8538859473616779 (-69))) ::
  (XentRow 44027 31 819 16 false (Dyadic 6019375231316893 (-49)) (Dyadic 0 0) (Dyadic 801459185 (-21)) (Dyadic 2257265711743835 (-51)) (Dyadic 923718977 (-28)) (Dyadic 1085403993 (-27)) (Dyadic 1311167075 (-37)) (Dyadic 420897827 (-20)), (Dyadic 1452768889 (-30)), (Dyadic 434787 (-19)), (Dyadic 477551 (-19)), (Dyadic 10691 (-17)), (Dyadic 4894126410894903 (-60)), (Dyadic 4582086470316765 (-59)), (Dyadic 4070593916989117 (-68))) ::
  (XentRow 7 946 164 23 true (Dyadic 8763600222181975 (-52)) (Dyadic 0 0) (Dyadic 7754131 (-12)) (Dyadic 1711640668394917 (-50)) (Dyadic 7843609 (-29)) (Dyadic 521850465 (-36)) (Dyadic 1369741755 (-31)) (Dyadic 764517707 (-11)), (Dyadic 1612247987 (-27)), (Dyadic 49587 (-20)), (Dyadic 484893 (-20)), (Dyadic 217653 (-19)), (Dyadic 484199923529285 (-56)), (Dyadic 7356092934463233 (-59)), (Dyadic 1968289748782295 (-64))) ::
  (XentRow 15 232 538 21 true (Dyadic 6097986938292255 (-51)) (Dyadic 15 (-4)) (Dyadic 2032754147 (-34)) (Dyadic 5621581708738173 (-51)) (Dyadic 1294920891 (-36)) (Dyadic 1321709793 (-29)) (Dyadic 356075775 (-26)) (Dyadic 1237736397 (-22)), (Dyadic 165303339 (-35)), (Dyadic 381297 (-20)), (Dyadic 73355 (-19)), (Dyadic 234587 (-20)), (Dyadic 679954347809363 (-69)), (Dyadic 5378711999180805 (-71)), (Dyadic 6116911059342177 (-63))) ::
  (XentRow 52714 180 941 7 true (Dyadic 3060375064497001 (-48)) (Dyadic 1 (-6)) (Dyadic 488861651 (-37)) (Dyadic 669457045358719 (-49)) (Dyadic 1846693645 (-32)) (Dyadic 1439012019 (-28)) (Dyadic 1359883703 (-29)) (Dyadic 889664999 (-10)), (Dyadic 1023001891 (-34)), (Dyadic 217999 (-19)), (Dyadic 260569 (-19)), (Dyadic 21285 (-18)), (Dyadic 7747807156396027 (-78)), (Dyadic 117368436228591 (-71)), (Dyadic 5285228498114631 (-67))) ::
  (XentRow 5 592 859 20 true (Dyadic 7248263982714163 (-52)) (Dyadic 0 0) (Dyadic 1621470977 (-29)) (Dyadic 7021755733254345 (-53)) (Dyadic 879973271 (-35)) (Dyadic 1314516615 (-26)) (Dyadic 2068245649 (-29)) (Dyadic 104974181 (-16)), (Dyadic 734608951 (-21)), (Dyadic 194927 (-18)), (Dyadic 367453 (-19)), (Dyadic 22401 (-19)), (Dyadic 7585643355208323 (-74)), (Dyadic 976736102281539 (-62)), (Dyadic 2879593139994977 (-66))) ::
  (XentRow 41 739 444 2 false (Dyadic 4181110443955751 (-50)) (Dyadic 0 0) (Dyadic 259371909 (-26)) (Dyadic 5226388054944689 (-53)) (Dyadic 4838967 (-29)) (Dyadic 1292218465 (-37)) (Dyadic 192741731 (-21)) (Dyadic 1727693235 (-13)), (Dyadic 2112480297 (-35)), (Dyadic 11075 (-18)), (Dyadic 148301 (-18)), (Dyadic 68613 (-17)), (Dyadic 4951993742769077 (-69)), (Dyadic 5268830860963159 (-68)), (Dyadic 6918505994354099 (-67))) ::
  (XentRow 152075 611 308 20 true (Dyadic 1679297880151369 (-47)) (Dyadic 0 0) (Dyadic 1821015189 (-30)) (Dyadic 1679297880151369 (-52)) (Dyadic 1787425159 (-37)) (Dyadic 998683347 (-37)) (Dyadic 614042187 (-23)) (Dyadic 1176088955 (-11)), (Dyadic 1633272415 (-31)), (Dyadic 177827 (-20)), (Dyadic 39503 (-17)), (Dyadic 138197 (-20)), (Dyadic 4282327145191397 (-68)), (Dyadic 4623207681997409 (-67)), (Dyadic 5497418223000177 (-68))) ::
  (XentRow 8 414 424 23 false (Dyadic 4682486076124019 (-51)) (Dyadic 15 (-4)) (Dyadic 101081435 (-31)) (Dyadic 5999435285033899 (-52)) (Dyadic 1438200899 (-36)) (Dyadic 1732455633 (-25)) (Dyadic 1845716801 (-34)) (Dyadic 2145776321 (-25)), (Dyadic 1382308869 (-28)), (Dyadic 241657 (-19)), (Dyadic 1000151 (-20)), (Dyadic 516837 (-20)), (Dyadic 8131425626851567 (-73)), (Dyadic 7818109269534901 (-72)), (Dyadic 4239491311704623 (-64))) ::
  (XentRow 32 985 238 26 true (Dyadic 7804143460206699 (-51)) (Dyadic 0 0) (Dyadic 398029301 (-35)) (Dyadic 7804143460206699 (-52)) (Dyadic 1890838899 (-38)) (Dyadic 844380919 (-25)) (Dyadic 434886153 (-30)) (Dyadic 281842225 (-13)), (Dyadic 195278277 (-22)), (Dyadic 408865 (-19)), (Dyadic 436445 (-20)), (Dyadic 381285 (-20)), (Dyadic 860614396120201 (-70)), (Dyadic 6298859494841397 (-72)), (Dyadic 1241842245109399 (-63))) ::
  (XentRow 113836 731 58 29 true (Dyadic 6554152767550257 (-49)) (Dyadic 0 0) (Dyadic 1294784509 (-36)) (Dyadic 5734883671606475 (-52)) (Dyadic 390384361 (-28)) (Dyadic 457033313 (-28)) (Dyadic 1339229673 (-22)) (Dyadic 1575899675 (-29)), (Dyadic 313495421 (-25)), (Dyadic 328447 (-20)), (Dyadic 2283 (-16)), (Dyadic 291919 (-20)), (Dyadic 7052737323338169 (-74)), (Dyadic 3402145309371075 (-59)), (Dyadic 182987939655567 (-61))) ::
  (XentRow 21 786 287 20 true (Dyadic 6855655058026161 (-51)) (Dyadic 0 0) (Dyadic 1667679925 (-25)) (Dyadic 6855655058026161 (-55)) (Dyadic 1641084073 (-35)) (Dyadic 1482653517 (-30)) (Dyadic 254053109 (-29)) (Dyadic 1394762805 (-21)), (Dyadic 1923375243 (-27)), (Dyadic 53813 (-18)), (Dyadic 26739 (-15)), (Dyadic 160099 (-18)), (Dyadic 1465485190464803 (-61)), (Dyadic 1393147574153405 (-60)), (Dyadic 1668404207341597 (-67))) ::
  (XentRow 41 583 269 11 false (Dyadic 4181110443955751 (-50)) (Dyadic 0 0) (Dyadic 2009997809 (-27)) (Dyadic 5226388054944689 (-53)) (Dyadic 959532783 (-36)) (Dyadic 333667841 (-24)) (Dyadic 812102409 (-25)) (Dyadic 83241875 (-22)), (Dyadic 1336739765 (-28)), (Dyadic 926691 (-20)), (Dyadic 165073 (-19)), (Dyadic 596545 (-20)), (Dyadic 164542062372959 (-58)), (Dyadic 1325533622707415 (-60)), (Dyadic 391183102085699 (-63))) ::
  (XentRow 114548 15 158 16 true (Dyadic 3278831417689015 (-48)) (Dyadic 25 (-5)) (Dyadic 1575987899 (-21)) (Dyadic 4098539272111269 (-49)) (Dyadic 825147021 (-37)) (Dyadic 911833971 (-24)) (Dyadic 1294464747 (-28)) (Dyadic 451851065 (-14)), (Dyadic 1505146857 (-36)), (Dyadic 454793 (-20)), (Dyadic 36869 (-18)), (Dyadic 307317 (-20)), (Dyadic 2321389498839631 (-59)), (Dyadic 1129211772057389 (-57)), (Dyadic 2655363616029983 (-64))) ::
  (XentRow 22 357 585 0 false (Dyadic 6960408820565447 (-51)) (Dyadic 0 0) (Dyadic 937880377 (-24)) (Dyadic 2555775113801375 (-50)) (Dyadic 65918629 (-32)) (Dyadic 1513688241 (-22)) (Dyadic 229115011 (-25)) (Dyadic 1238521803 (-17)), (Dyadic 2096910691 (-35)), (Dyadic 578231 (-20)), (Dyadic 126205 (-20)), (Dyadic 226013 (-19)), (Dyadic 51124936881593 (-56)), (Dyadic 1621392608418681 (-60)), (Dyadic 6835283055463303 (-68))) ::
  (XentRow 2 433 401 13 false (Dyadic 6243314768165359 (-53)) (Dyadic 0 0) (Dyadic 438307151 (-21)) (Dyadic 3999623523355933 (-53)) (Dyadic 532106109 (-24)) (Dyadic 1437845873 (-37)) (Dyadic 713351581 (-24)) (Dyadic 1441354317 (-20)), (Dyadic 181456133 (-24)), (Dyadic 93037 (-17)), (Dyadic 791179 (-20)), (Dyadic 46883 (-20)), (Dyadic 3050014734207377 (-59)), (Dyadic 6225774187496587 (-59)), (Dyadic 1468058387826239 (-65))) ::
  (XentRow 180457 853 804 4 false (Dyadic 3406761392973855 (-48)) (Dyadic 11 (-5)) (Dyadic 180377447 (-24)) (Dyadic 3193838805912989 (-50)) (Dyadic 1618471765 (-26)) (Dyadic 243449321 (-33)) (Dyadic 2029352375 (-22)) (Dyadic 752418363 (-13)), (Dyadic 1027024943 (-31)), (Dyadic 733069 (-20)), (Dyadic 591531 (-20)), (Dyadic 70769 (-19)), (Dyadic 3881975153113017 (-63)), (Dyadic 8462664853712109 (-50)), (Dyadic 1243276981410879 (-64))) ::
  (XentRow 6 424 837 10 true (Dyadic 4034683638976513 (-51)) (Dyadic 27 (-5)) (Dyadic 2101058535 (-28)) (Dyadic 3719473979681473 (-51)) (Dyadic 1400620141 (-36)) (Dyadic 1590600195 (-26)) (Dyadic 345170603 (-34)) (Dyadic 1764286925 (-18)), (Dyadic 2085272823 (-38)), (Dyadic 251003 (-20)), (Dyadic 117029 (-18)), (Dyadic 217113 (-20)), (Dyadic 2246725493354809 (-65)), (Dyadic 8763191277524433 (-66)), (Dyadic 1711395514691981 (-55))) ::
  (XentRow 15 685 850 29 false (Dyadic 6097986938292255 (-51)) (Dyadic 0 0) (Dyadic 1774183255 (-25)) (Dyadic 4954614387362457 (-53)) (Dyadic 1565893179 (-38)) (Dyadic 584891671 (-34)) (Dyadic 1140285437 (-34)) (Dyadic 61241043 (-20)), (Dyadic 225641175 (-29)), (Dyadic 25171 (-19)), (Dyadic 105491 (-19)), (Dyadic 1255 (-13)), (Dyadic 5550639961503629 (-65)), (Dyadic 5431230185178447 (-64)), (Dyadic 4280224377374147 (-66))) ::
  (XentRow 148634 822 982 7 false (Dyadic 6704307334594389 (-49)) (Dyadic 0 0) (Dyadic 1335582733 (-40)) (Dyadic 196415253943195 (-44)) (Dyadic 1735065279 (-26)) (Dyadic 915429281 (-22)) (Dyadic 250838189 (-32)) (Dyadic 7576197 (-5)), (Dyadic 1069429087 (-23)), (Dyadic 441213 (-20)), (Dyadic 57329 (-19)), (Dyadic 326555 (-20)), (Dyadic 7071317572501573 (-86)), (Dyadic 8498976659560975 (-77)), (Dyadic 2268708293130141 (-65))) ::
  (XentRow 41 566 22 12 false (Dyadic 4181110443955751 (-50)) (Dyadic 49 (-6)) (Dyadic 1804045483 (-42)) (Dyadic 4181110443955751 (-56)) (Dyadic 1843803497 (-37)) (Dyadic 1338378831 (-28)) (Dyadic 30645205 (-23)) (Dyadic 291848355 (-18)), (Dyadic 447756965 (-28)), (Dyadic 260339 (-18)), (Dyadic 439699 (-20)), (Dyadic 601657 (-20)), (Dyadic 1299295800322269 (-76)), (Dyadic 5119277701611209 (-77)), (Dyadic 5466837366719451 (-66))) ::
  (XentRow 3 600 75 24 false (Dyadic 2473854946935173 (-51)) (Dyadic 31 (-5)) (Dyadic 1140321943 (-27)) (Dyadic 120793698580819 (-48)) (Dyadic 1104629293 (-38)) (Dyadic 1504457345 (-28)) (Dyadic 734320767 (-30)) (Dyadic 571399229 (-25)), (Dyadic 191828909 (-26)), (Dyadic 77697 (-20)), (Dyadic 27743 (-18)), (Dyadic 33275 (-20)), (Dyadic 1176159458256531 (-65)), (Dyadic 4605466839320679 (-66)), (Dyadic 5602003140052767 (-66))) ::
  (XentRow 58378 641 150 15 true (Dyadic 1544550923284509 (-47)) (Dyadic 9 (-4)) (Dyadic 400928441 (-17)) (Dyadic 3475239577390145 (-49)) (Dyadic 1958049849 (-25)) (Dyadic 1892937015 (-38)) (Dyadic 1535749135 (-37)) (Dyadic 561593279 (-18)), (Dyadic 1777793621 (-35)), (Dyadic 461007 (-20)), (Dyadic 173551 (-20)), (Dyadic 8983 (-15)), (Dyadic 4753222110407399 (-56)), (Dyadic 4689301841630907 (-55)), (Dyadic 5658895292508865 (-64))) ::
  (XentRow 29 232 839 5 false (Dyadic 3791238061293327 (-50)) (Dyadic 43 (-6)) (Dyadic 1303706047 (-31)) (Dyadic 1747523793877393 (-49)) (Dyadic 552512275 (-29)) (Dyadic 1801879347 (-25)) (Dyadic 610693589 (-30)) (Dyadic 803442225 (-29)), (Dyadic 1643195045 (-36)), (Dyadic 517355 (-19)), (Dyadic 982821 (-20)), (Dyadic 51889 (-20)), (Dyadic 1615935779968451 (-67)), (Dyadic 6244327031231439 (-68)), (Dyadic 2999697940216323 (-67))) ::
  (XentRow 36 204 885 31 true (Dyadic 4034683638976513 (-50)) (Dyadic 0 0) (Dyadic 1096988037 (-42)) (Dyadic 4286851366412545 (-51)) (Dyadic 427255207 (-33)) (Dyadic 1029188791 (-23)) (Dyadic 1574097125 (-27)) (Dyadic 1583483835 (-19)), (Dyadic 1996989267 (-34)), (Dyadic 250965 (-20)), (Dyadic 575329 (-20)), (Dyadic 81091 (-18)), (Dyadic 8967147740155539 (-82)), (Dyadic 2233490248378027 (-79)), (Dyadic 535910008947349 (-48))) ::
  nil.

Definition near_overflow_points : list (product_sum * dyadic * bool) :=
  (ProductSum bf16 ieee false 6 6 (Dyadic 562949768872011 79) 1 (Dyadic 1 0), (Dyadic 1688849306616039 56), true) ::
  (ProductSum f32 ieee false 10 10 (Dyadic 562949634654415 79) 1 (Dyadic 1 0), (Dyadic 6192445981198587 55), true) ::
  (ProductSum bf16 ieee false 1848052 1848052 (Dyadic 8113478632416459 75) 0 (Dyadic 0 0), (Dyadic 1787438666834345 74), false) ::
  (ProductSum f32 ieee false 11 11 (Dyadic 140737383497797 81) 0 (Dyadic 0 0), (Dyadic 3096222436951545 56), false) ::
  (ProductSum bf16 ieee false 4 4 (Dyadic 562949835980833 79) 1 (Dyadic 1 0), (Dyadic 562949835980835 57), true) ::
  (ProductSum f32 ieee false 8 8 (Dyadic 1125899369971967 78) 0 (Dyadic 0 0), (Dyadic 1125899369971971 57), true) ::
  (ProductSum bf16 ieee false 13 13 (Dyadic 35184337485855 83) 2 (Dyadic 1 1), (Dyadic 1970322899207887 57), false) ::
  (ProductSum f32 ieee false 17 17 (Dyadic 1125898631775577 78) 1 (Dyadic 1 0), (Dyadic 2533271921495057 57), false) ::
  (ProductSum bf16 ieee false 4 4 (Dyadic 1125899571298385 78) 0 (Dyadic 0 0), (Dyadic 3377698713895167 54), false) ::
  (ProductSum f32 ieee false 3090788 3090788 (Dyadic 3802992017896197 76) 2 (Dyadic 1 1), (Dyadic 1401215755819491 75), true) ::
  (ProductSum bf16 ieee false 10 10 (Dyadic 562949567545575 79) 0 (Dyadic 0 0), (Dyadic 5066546107910193 55), false) ::
  (ProductSum f32 ieee false 15977092 15977092 (Dyadic 4613612832443457 75) 2 (Dyadic 1 1), (Dyadic 8787170160240605 74), false) ::
  (ProductSum bf16 ieee false 1 1 (Dyadic 1125899772624917 78) 2 (Dyadic 1 1), (Dyadic 1125899772624921 55), true) ::
  (ProductSum f32 ieee false 11 11 (Dyadic 1125899034427967 78) 0 (Dyadic 0 0), (Dyadic 387027793084615 59), false) ::
  (ProductSum bf16 ieee false 9875269 9875269 (Dyadic 2834927010820511 76) 1 (Dyadic 1 0), (Dyadic 6674687105946197 74), false) ::
  (ProductSum f32 ieee false 2 2 (Dyadic 1125899772624911 78) 0 (Dyadic 0 0), (Dyadic 1125899772624915 55), true) ::
  (ProductSum bf16 ieee false 14924201 14924201 (Dyadic 4766844410195897 75) 2 (Dyadic 1 1), (Dyadic 2120177414427241 76), true) ::
  (ProductSum f32 ieee false 3418784 3418784 (Dyadic 7482457910941305 75) 1 (Dyadic 1 0), (Dyadic 6098965375198737 73), true) ::
  (ProductSum bf16 ieee false 4 4 (Dyadic 562949835980827 79) 0 (Dyadic 0 0), (Dyadic 1688849507942487 55), true) ::
  (ProductSum f32 ieee false 16 16 (Dyadic 562949299110591 79) 2 (Dyadic 1 1), (Dyadic 5066543691995337 56), false) ::
  (ProductSum bf16 ieee false 1 1 (Dyadic 1125899839733765 78) 1 (Dyadic 1 0), (Dyadic 1125899839733769 54), true) ::
  (ProductSum f32 ieee false 7 7 (Dyadic 1125899369971967 78) 1 (Dyadic 1 0), (Dyadic 1125899369971971 57), true) ::
  (ProductSum bf16 ieee false 15 15 (Dyadic 281474733441255 80) 1 (Dyadic 1 0), (Dyadic 527765125202355 59), true) ::
  (ProductSum f32 ieee false 10614818 10614818 (Dyadic 1379194088192527 77) 2 (Dyadic 1 1), (Dyadic 6980846877683569 74), true) ::
  (ProductSum bf16 ieee false 18 18 (Dyadic 1125898564666943 78) 2 (Dyadic 1 1), (Dyadic 2674009091083999 57), true) ::
  (ProductSum f32 ieee false 2 2 (Dyadic 1125899638407203 78) 0 (Dyadic 0 0), (Dyadic 1125899638407207 55), false) ::
  (ProductSum bf16 ieee false 6122495 6122495 (Dyadic 6599023146983341 75) 0 (Dyadic 0 0), (Dyadic 4816350891979547 74), true) ::
  (ProductSum f32 ieee false 1 1 (Dyadic 562949970198525 79) 0 (Dyadic 0 0), (Dyadic 562949970198527 55), true) ::
  (ProductSum bf16 ieee false 6 6 (Dyadic 281474867658803 80) 2 (Dyadic 1 1), (Dyadic 492581018402907 58), true) ::
  (ProductSum f32 ieee false 2 2 (Dyadic 562949835980827 79) 2 (Dyadic 1 1), (Dyadic 562949835980829 57), true) ::
  (ProductSum bf16 ieee false 4 4 (Dyadic 1125899504189583 78) 2 (Dyadic 1 1), (Dyadic 5629497520947935 54), true) ::
  (ProductSum f32 ieee false 12837302 12837302 (Dyadic 1275689460326773 77) 0 (Dyadic 0 0), (Dyadic 3904440608127561 75), false) ::
  (ProductSum bf16 ieee false 8833897 8833897 (Dyadic 737549511941539 78) 2 (Dyadic 1 1), (Dyadic 6213605078164445 74), true) ::
  (ProductSum f32 ieee false 2 2 (Dyadic 281474867658779 80) 2 (Dyadic 1 1), (Dyadic 70368716914695 60), false) ::
  (ProductSum bf16 ieee false 12452016 12452016 (Dyadic 5170019643382719 75) 2 (Dyadic 1 1), (Dyadic 3837178497894751 75), false) ::
  (ProductSum f32 ieee false 1375158 1375158 (Dyadic 2081211318886321 77) 0 (Dyadic 0 0), (Dyadic 1364705274036925 74), false) ::
  (ProductSum bf16 ieee false 2 2 (Dyadic 1125899705516057 78) 0 (Dyadic 0 0), (Dyadic 1125899705516061 54), false) ::
  (ProductSum f32 ieee false 13373755 13373755 (Dyadic 5011969148822023 75) 0 (Dyadic 0 0), (Dyadic 3995230642789871 75), true) ::
  (ProductSum bf16 ieee false 12510624 12510624 (Dyadic 5159674405645125 75) 0 (Dyadic 0 0), (Dyadic 30058781286597 82), false) ::
  (ProductSum f32 ieee false 2 2 (Dyadic 562949835980815 79) 0 (Dyadic 0 0), (Dyadic 562949835980817 56), false) ::
  (ProductSum bf16 ieee false 18 18 (Dyadic 1125898698884367 78) 0 (Dyadic 0 0), (Dyadic 4785069470258577 56), true) ::
  (ProductSum f32 ieee false 2 2 (Dyadic 1125899839733765 78) 0 (Dyadic 0 0), (Dyadic 1125899839733769 55), true) ::
  (ProductSum bf16 ieee false 6991788 6991788 (Dyadic 6357680067209759 75) 0 (Dyadic 0 0), (Dyadic 2649518540148525 75), true) ::
  (ProductSum f32 ieee false 10 10 (Dyadic 140737383497797 81) 1 (Dyadic 1 0), (Dyadic 3096222436951545 56), false) ::
  (ProductSum bf16 ieee false 14 14 (Dyadic 562949366219279 79) 1 (Dyadic 1 0), (Dyadic 3940645563534967 56), false) ::
  (ProductSum f32 ieee false 2 2 (Dyadic 1125899571298385 78) 2 (Dyadic 1 1), (Dyadic 1125899571298389 56), false) ::
  (ProductSum bf16 ieee false 7056332 7056332 (Dyadic 6340462847368137 75) 1 (Dyadic 1 0), (Dyadic 5333472595774539 74), true) ::
  (ProductSum f32 ieee false 12345628 12345628 (Dyadic 2594453317207439 76) 0 (Dyadic 0 0), (Dyadic 7636584166910447 74), false) ::
  (ProductSum bf16 ieee false 6 6 (Dyadic 1125899369971967 78) 2 (Dyadic 1 1), (Dyadic 7881295589803797 54), true) ::
  (ProductSum f32 ieee false 4216743 4216743 (Dyadic 3599028659953351 76) 1 (Dyadic 1 0), (Dyadic 113071370927143 79), true) ::
  (ProductSum bf16 ieee false 1679605 1679605 (Dyadic 511720452114873 79) 2 (Dyadic 1 1), (Dyadic 6557378705557681 72), true) ::
  (ProductSum f32 ieee false 11936747 11936747 (Dyadic 2631397726970499 76) 0 (Dyadic 0 0), (Dyadic 3744402995493655 75), false) ::
  (ProductSum bf16 ieee false 1 1 (Dyadic 1125899705516067 78) 2 (Dyadic 1 1), (Dyadic 1125899705516071 55), true) ::
  (ProductSum f32 ieee false 2232187 2232187 (Dyadic 3974762343789269 76) 0 (Dyadic 0 0), (Dyadic 2115348060583107 74), false) ::
  (ProductSum bf16 ieee false 15 15 (Dyadic 281474733441241 80) 0 (Dyadic 0 0), (Dyadic 985161567044347 58), true) ::
  (ProductSum f32 ieee false 1 1 (Dyadic 1125899571298367 78) 2 (Dyadic 1 1), (Dyadic 3377698713895113 54), false) ::
  (ProductSum bf16 ieee false 17 17 (Dyadic 562949366219415 79) 2 (Dyadic 1 1), (Dyadic 5066544295974753 56), true) ::
  (ProductSum f32 ieee false 5 5 (Dyadic 1125899504189583 78) 1 (Dyadic 1 0), (Dyadic 3377698512568761 55), true) ::
  (ProductSum bf16 ieee false 16 16 (Dyadic 562949366219347 79) 1 (Dyadic 1 0), (Dyadic 562949366219349 59), true) ::
  (ProductSum f32 ieee false 13 13 (Dyadic 1125898900210447 78) 0 (Dyadic 0 0), (Dyadic 1829585712841983 57), false) ::
  (ProductSum bf16 ieee false 13500169 13500169 (Dyadic 4991042586973295 75) 1 (Dyadic 1 0), (Dyadic 8032312203685871 74), true) ::
  (ProductSum f32 ieee false 3 3 (Dyadic 281474934767625 80) 1 (Dyadic 1 0), (Dyadic 140737467383813 59), true) ::
  (ProductSum bf16 ieee false 8 8 (Dyadic 1125899168645561 78) 2 (Dyadic 1 1), (Dyadic 2533273129452521 56), false) ::
  (ProductSum f32 ieee false 7 7 (Dyadic 1125899235754345 78) 2 (Dyadic 1 1), (Dyadic 2533273280447285 56), false) ::
  (ProductSum bf16 ieee false 17 17 (Dyadic 35184337485859 83) 0 (Dyadic 0 0), (Dyadic 281474699886873 60), true) ::
  (ProductSum f32 ieee false 13766498 13766498 (Dyadic 618440391333485 78) 1 (Dyadic 1 0), (Dyadic 2029838330472007 76), true) ::
  (ProductSum bf16 ieee false 9 9 (Dyadic 562949634654397 79) 1 (Dyadic 1 0), (Dyadic 5066546711889591 55), true) ::
  (ProductSum f32 ieee false 14396437 14396437 (Dyadic 2423772652482217 76) 2 (Dyadic 1 1), (Dyadic 8319305215198651 74), false) ::
  (ProductSum bf16 ieee false 16 16 (Dyadic 1125898765993025 78) 0 (Dyadic 0 0), (Dyadic 4222120372473859 56), false) ::
  (ProductSum f32 ieee false 6 6 (Dyadic 1125899437080771 78) 1 (Dyadic 1 0), (Dyadic 7881296059565425 54), true) ::
  (ProductSum bf16 ieee false 8088441 8088441 (Dyadic 3038642761035019 76) 2 (Dyadic 1 1), (Dyadic 5859824593389439 74), false) ::
  (ProductSum f32 ieee false 7 7 (Dyadic 1125899369971937 78) 0 (Dyadic 0 0), (Dyadic 7881295589803587 54), false) ::
  (ProductSum bf16 ieee false 1 1 (Dyadic 1125899906842621 78) 0 (Dyadic 0 0), (Dyadic 281474993487873 (-198)), true) ::
  (ProductSum f32 ieee false 7 7 (Dyadic 562949567545553 79) 2 (Dyadic 1 1), (Dyadic 5066546107909995 55), false) ::
  (ProductSum bf16 ieee false 20 20 (Dyadic 562949232001885 79) 0 (Dyadic 0 0), (Dyadic 5348017704017927 56), false) ::
  (ProductSum f32 ieee false 10987423 10987423 (Dyadic 5442740258377915 75) 0 (Dyadic 0 0), (Dyadic 1782229229746093 76), false) ::
  (ProductSum bf16 ieee false 5 5 (Dyadic 562949634654343 79) 2 (Dyadic 1 1), (Dyadic 1688848903963035 56), false) ::
  (ProductSum f32 ieee false 20 20 (Dyadic 1125898430449379 78) 0 (Dyadic 0 0), (Dyadic 5629492152246915 56), false) ::
  (ProductSum bf16 ieee false 4 4 (Dyadic 281474867658779 80) 0 (Dyadic 0 0), (Dyadic 211106150744085 58), false) ::
  (ProductSum f32 ieee false 11 11 (Dyadic 1125898967319257 78) 2 (Dyadic 1 1), (Dyadic 1829585821893799 57), false) ::
  (ProductSum bf16 ieee false 14 14 (Dyadic 562949433328051 79) 0 (Dyadic 0 0), (Dyadic 7318342633264689 55), false) ::
  (ProductSum f32 ieee false 5028383 5028383 (Dyadic 6930133774135737 75) 2 (Dyadic 1 1), (Dyadic 8308262996162809 73), true) ::
  (ProductSum bf16 ieee false 14 14 (Dyadic 1125898900210621 78) 2 (Dyadic 1 1), (Dyadic 1055530218947461 58), true) ::
  (ProductSum f32 ieee false 11 11 (Dyadic 1125899168645603 78) 0 (Dyadic 0 0), (Dyadic 3096222713775419 56), true) ::
  (ProductSum bf16 ieee false 1 1 (Dyadic 33554431 103) 0 (Dyadic 0 0), (Dyadic 281474993487873 (-198)), true) ::
  (ProductSum f32 ieee false 1779896 1779896 (Dyadic 8143278103411237 75) 1 (Dyadic 1 0), (Dyadic 6911371358121587 72), true) ::
  (ProductSum bf16 ieee false 6 6 (Dyadic 562949634654343 79) 1 (Dyadic 1 0), (Dyadic 1688848903963035 56), false) ::
  (ProductSum f32 ieee false 3178463 3178463 (Dyadic 7572566658214463 75) 0 (Dyadic 0 0), (Dyadic 5738526091138935 73), false) ::
  (ProductSum bf16 ieee false 10 10 (Dyadic 562949567545575 79) 0 (Dyadic 0 0), (Dyadic 5066546107910193 55), false) ::
  (ProductSum f32 ieee false 16192118 16192118 (Dyadic 1145881020671383 77) 1 (Dyadic 1 0), (Dyadic 1105918994340453 77), true) ::
  nil.

Definition softmax_depth_points : list (Z * Z * Z * dyadic * bool * bool * dyadic * dyadic) :=
  (33554432%Z, 16777217%Z, 16777217%Z, (Dyadic 1762804005 (-30)), true, true, (Dyadic 8193 4), (Dyadic 0 0)) ::
  (2%Z, 1%Z, 1%Z, (Dyadic 314472469 (-29)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (9%Z, 3%Z, 3%Z, (Dyadic 1754288299 (-25)), false, false, (Dyadic 1 1), (Dyadic 0 0)) ::
  (3%Z, 3%Z, 3%Z, (Dyadic 1688169493 (-30)), false, false, (Dyadic 1 1), (Dyadic 0 0)) ::
  (15%Z, 8%Z, 2%Z, (Dyadic 257766167 (-25)), false, false, (Dyadic 7 0), (Dyadic 7 0)) ::
  (12549115%Z, 5763595%Z, 1023284%Z, (Dyadic 1735205739 (-29)), false, false, (Dyadic 2881797 1), (Dyadic 1 5)) ::
  (8%Z, 2%Z, 2%Z, (Dyadic 1306819721 (-32)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (3343412%Z, 1160625%Z, 1160625%Z, (Dyadic 787620325 (-32)), true, false, (Dyadic 138226573797 (-31)), (Dyadic 0 0)) ::
  (6%Z, 1%Z, 1%Z, (Dyadic 269920753 (-23)), false, false, (Dyadic 0 0), (Dyadic 0 0)) ::
  (33554432%Z, 16777215%Z, 16777215%Z, (Dyadic 901471261 (-33)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (3189617%Z, 1225116%Z, 1225116%Z, (Dyadic 1389491417 (-34)), false, false, (Dyadic 551145305305 (-33)), (Dyadic 0 0)) ::
  (5341789%Z, 1291688%Z, 664132%Z, (Dyadic 844780411 (-30)), false, true, (Dyadic 1291687 0), (Dyadic 1 5)) ::
  (9124208%Z, 1478766%Z, 253613%Z, (Dyadic 1484313909 (-28)), true, true, (Dyadic 17829 1), (Dyadic 1 5)) ::
  (6095660%Z, 3361%Z, 3361%Z, (Dyadic 1245320189 (-33)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (3%Z, 3%Z, 3%Z, (Dyadic 758719597 (-25)), true, false, (Dyadic 1 1), (Dyadic 0 0)) ::
  (5%Z, 3%Z, 3%Z, (Dyadic 319150127 (-27)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (9%Z, 7%Z, 3%Z, (Dyadic 254434821 (-24)), false, false, (Dyadic 3 1), (Dyadic 3 1)) ::
  (2%Z, 2%Z, 2%Z, (Dyadic 1421717357 (-29)), false, false, (Dyadic 1 0), (Dyadic 0 0)) ::
  (33554432%Z, 16777217%Z, 16777217%Z, (Dyadic 108340093 (-22)), true, false, (Dyadic 8193 4), (Dyadic 0 0)) ::
  (9%Z, 9%Z, 5%Z, (Dyadic 516540997 (-26)), false, true, (Dyadic 1 3), (Dyadic 1 3)) ::
  (17%Z, 9%Z, 7%Z, (Dyadic 1596650403 (-26)), false, false, (Dyadic 1 3), (Dyadic 1 3)) ::
  (13%Z, 12%Z, 12%Z, (Dyadic 2073138453 (-25)), true, false, (Dyadic 11 0), (Dyadic 0 0)) ::
  (16%Z, 14%Z, 14%Z, (Dyadic 340956497 (-27)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (10400141%Z, 8993008%Z, 8993008%Z, (Dyadic 302234919 (-32)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (12%Z, 9%Z, 9%Z, (Dyadic 371043789 (-26)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (18%Z, 12%Z, 12%Z, (Dyadic 1401813663 (-29)), true, false, (Dyadic 11 0), (Dyadic 0 0)) ::
  (19%Z, 13%Z, 10%Z, (Dyadic 229480143 (-30)), true, true, (Dyadic 3 2), (Dyadic 3 2)) ::
  (33554432%Z, 16777216%Z, 16777216%Z, (Dyadic 753270437 (-25)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (17%Z, 16%Z, 10%Z, (Dyadic 336661187 (-24)), false, false, (Dyadic 15 0), (Dyadic 15 0)) ::
  (16346850%Z, 3889816%Z, 849118%Z, (Dyadic 404405617 (-31)), false, true, (Dyadic 3889815 0), (Dyadic 1 5)) ::
  (11007092%Z, 8366311%Z, 625800%Z, (Dyadic 1279325127 (-32)), true, false, (Dyadic 43013 0), (Dyadic 1 5)) ::
  (8%Z, 4%Z, 4%Z, (Dyadic 1750752689 (-26)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (16%Z, 14%Z, 12%Z, (Dyadic 2145071727 (-31)), false, true, (Dyadic 13 0), (Dyadic 13 0)) ::
  (16416981%Z, 8204434%Z, 726506%Z, (Dyadic 1690616457 (-28)), false, true, (Dyadic 8204433 0), (Dyadic 1 5)) ::
  (20%Z, 19%Z, 7%Z, (Dyadic 231716555 (-23)), true, false, (Dyadic 17 0), (Dyadic 9 1)) ::
  (18%Z, 18%Z, 18%Z, (Dyadic 825276979 (-28)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (33554432%Z, 16777215%Z, 16777215%Z, (Dyadic 1159846215 (-24)), true, false, (Dyadic 1696717127 (-23)), (Dyadic 0 0)) ::
  (9%Z, 6%Z, 6%Z, (Dyadic 248097135 (-28)), true, false, (Dyadic 5 0), (Dyadic 0 0)) ::
  (9%Z, 2%Z, 2%Z, (Dyadic 715401357 (-24)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (117874%Z, 94266%Z, 94266%Z, (Dyadic 1830741131 (-33)), false, false, (Dyadic 276708648075 (-32)), (Dyadic 0 0)) ::
  (1%Z, 1%Z, 1%Z, (Dyadic 817256559 (-30)), false, false, (Dyadic 0 0), (Dyadic 0 0)) ::
  (14%Z, 9%Z, 8%Z, (Dyadic 2122599169 (-25)), true, true, (Dyadic 1 3), (Dyadic 1 3)) ::
  (8%Z, 3%Z, 3%Z, (Dyadic 349223367 (-25)), false, false, (Dyadic 1 1), (Dyadic 0 0)) ::
  (17%Z, 1%Z, 1%Z, (Dyadic 1348416295 (-26)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (9%Z, 4%Z, 4%Z, (Dyadic 2065713191 (-30)), false, false, (Dyadic 3 0), (Dyadic 0 0)) ::
  (33554432%Z, 16777215%Z, 16777215%Z, (Dyadic 91659859 (-20)), true, false, (Dyadic 125214291 (-19)), (Dyadic 0 0)) ::
  (12%Z, 7%Z, 1%Z, (Dyadic 2137483467 (-31)), false, false, (Dyadic 3 1), (Dyadic 3 1)) ::
  (8%Z, 6%Z, 5%Z, (Dyadic 849206365 (-27)), false, true, (Dyadic 5 0), (Dyadic 5 0)) ::
  (20%Z, 5%Z, 2%Z, (Dyadic 1369836661 (-27)), false, false, (Dyadic 1 2), (Dyadic 1 2)) ::
  (20%Z, 16%Z, 16%Z, (Dyadic 834582611 (-28)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (13%Z, 5%Z, 5%Z, (Dyadic 74543977 (-28)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (14786961%Z, 6592545%Z, 6592545%Z, (Dyadic 1346076989 (-32)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (7731174%Z, 4807210%Z, 2073490%Z, (Dyadic 861850687 (-28)), true, false, (Dyadic 3777 3), (Dyadic 1 5)) ::
  (18%Z, 8%Z, 3%Z, (Dyadic 742748179 (-27)), true, false, (Dyadic 7 0), (Dyadic 7 0)) ::
  (33554432%Z, 16777215%Z, 16777215%Z, (Dyadic 1399861431 (-26)), false, false, (Dyadic 3547345079 (-25)), (Dyadic 0 0)) ::
  (2%Z, 1%Z, 1%Z, (Dyadic 667201621 (-32)), false, false, (Dyadic 0 0), (Dyadic 0 0)) ::
  (14342332%Z, 564841%Z, 90282%Z, (Dyadic 1136189201 (-27)), true, true, (Dyadic 56041 0), (Dyadic 1 5)) ::
  (10566390%Z, 2963810%Z, 1785503%Z, (Dyadic 1047279621 (-33)), false, true, (Dyadic 2963809 0), (Dyadic 1 5)) ::
  (11681633%Z, 5078135%Z, 5078135%Z, (Dyadic 2041308225 (-28)), false, false, (Dyadic 10631242817 (-27)), (Dyadic 0 0)) ::
  (8%Z, 7%Z, 7%Z, (Dyadic 982582081 (-26)), true, false, (Dyadic 3 1), (Dyadic 0 0)) ::
  (6%Z, 3%Z, 3%Z, (Dyadic 1088655751 (-27)), false, false, (Dyadic 1 1), (Dyadic 0 0)) ::
  (8820096%Z, 7285973%Z, 7285973%Z, (Dyadic 223739849 (-27)), false, false, (Dyadic 4518707145 (-26)), (Dyadic 0 0)) ::
  (16%Z, 2%Z, 2%Z, (Dyadic 1786216529 (-26)), false, false, (Dyadic 1 0), (Dyadic 0 0)) ::
  (33554432%Z, 16777216%Z, 16777216%Z, (Dyadic 1934196563 (-33)), false, false, (Dyadic 276812103507 (-32)), (Dyadic 0 0)) ::
  (8%Z, 5%Z, 5%Z, (Dyadic 1347062147 (-32)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (11%Z, 4%Z, 4%Z, (Dyadic 1508274641 (-28)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (2%Z, 2%Z, 2%Z, (Dyadic 1718522153 (-29)), false, false, (Dyadic 1 0), (Dyadic 0 0)) ::
  (7432000%Z, 1085294%Z, 543917%Z, (Dyadic 1273140589 (-32)), true, false, (Dyadic 3631 3), (Dyadic 1 5)) ::
  (3%Z, 2%Z, 2%Z, (Dyadic 1508983393 (-28)), false, false, (Dyadic 1 0), (Dyadic 0 0)) ::
  (2%Z, 1%Z, 1%Z, (Dyadic 535036719 (-23)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (14%Z, 7%Z, 3%Z, (Dyadic 42733857 (-29)), true, true, (Dyadic 3 1), (Dyadic 3 1)) ::
  (15%Z, 14%Z, 14%Z, (Dyadic 1551525371 (-34)), true, false, (Dyadic 13 0), (Dyadic 0 0)) ::
  (33554432%Z, 16777217%Z, 16777217%Z, (Dyadic 1538575571 (-30)), false, true, (Dyadic 1 24), (Dyadic 0 0)) ::
  (14010097%Z, 10786416%Z, 9571712%Z, (Dyadic 1811979115 (-28)), true, true, (Dyadic 54743 0), (Dyadic 1 5)) ::
  (5%Z, 5%Z, 4%Z, (Dyadic 804313903 (-27)), false, true, (Dyadic 1 2), (Dyadic 1 2)) ::
  (7938868%Z, 6129087%Z, 6129087%Z, (Dyadic 436036709 (-26)), true, false, (Dyadic 2583520357 (-25)), (Dyadic 0 0)) ::
  (15596596%Z, 12894432%Z, 12894432%Z, (Dyadic 1516343855 (-24)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (11583953%Z, 8757699%Z, 8757699%Z, (Dyadic 2061233509 (-29)), true, false, (Dyadic 19241102693 (-28)), (Dyadic 0 0)) ::
  (4792828%Z, 1990528%Z, 1990528%Z, (Dyadic 248205725 (-27)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (1%Z, 1%Z, 1%Z, (Dyadic 1982687585 (-27)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (2%Z, 1%Z, 1%Z, (Dyadic 246501657 (-23)), true, false, (Dyadic 0 0), (Dyadic 0 0)) ::
  (33554432%Z, 16777217%Z, 16777217%Z, (Dyadic 1844698051 (-26)), true, false, (Dyadic 8193 4), (Dyadic 0 0)) ::
  (2%Z, 1%Z, 1%Z, (Dyadic 848674949 (-23)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (20%Z, 17%Z, 17%Z, (Dyadic 1988872309 (-31)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (8844531%Z, 4584417%Z, 4584417%Z, (Dyadic 1584009945 (-24)), false, false, (Dyadic 2120880857 (-23)), (Dyadic 0 0)) ::
  (3%Z, 3%Z, 3%Z, (Dyadic 910094671 (-27)), false, false, (Dyadic 1 1), (Dyadic 0 0)) ::
  (12%Z, 7%Z, 7%Z, (Dyadic 677404975 (-28)), true, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  (6%Z, 6%Z, 3%Z, (Dyadic 114870469 (-21)), false, true, (Dyadic 5 0), (Dyadic 5 0)) ::
  (18%Z, 3%Z, 3%Z, (Dyadic 987692165 (-23)), false, false, (Dyadic 1 1), (Dyadic 0 0)) ::
  (3%Z, 1%Z, 1%Z, (Dyadic 1419890171 (-26)), false, true, (Dyadic 0 0), (Dyadic 0 0)) ::
  nil.

Definition softmax_overflow_points : list (dtype * Z * dyadic * dyadic * dyadic * dyadic * bool * bool) :=
  (f16, 5%Z, (Dyadic 562949835980833 79), (Dyadic 1104768198264747 78), (Dyadic 1152063067 100), (Dyadic 10075159 99), false, false) ::
  (bf16, 7%Z, (Dyadic 1125899504189605 78), (Dyadic 8768136760704893 75), (Dyadic 1344871605 90), (Dyadic 455931459 94), true, true) ::
  (f32, 12928901%Z, (Dyadic 27980973 102), (Dyadic 769120103 97), (Dyadic 1371554157 93), (Dyadic 2019584925 93), false, false) ::
  (f16, 15%Z, (Dyadic 305180459 99), (Dyadic 1283043075 96), (Dyadic 169332417 103), (Dyadic 1090458385 94), false, false) ::
  (bf16, 13357549%Z, (Dyadic 1875972211 96), (Dyadic 1939766589 96), (Dyadic 1512111347 92), (Dyadic 40624089 99), false, false) ::
  (f32, 11%Z, (Dyadic 1145642639 98), (Dyadic 1251578157 98), (Dyadic 827848217 98), (Dyadic 195992419 97), true, true) ::
  (f16, 17%Z, (Dyadic 1125898833101885 78), (Dyadic 8942474113745895 75), (Dyadic 2012227607 100), (Dyadic 1974950607 90), false, false) ::
  (bf16, 15%Z, (Dyadic 953777765 98), (Dyadic 702814163 99), (Dyadic 1751512067 97), (Dyadic 942948163 91), false, true) ::
  (f32, 4522875%Z, (Dyadic 125120733 101), (Dyadic 1071137771 99), (Dyadic 465633751 99), (Dyadic 426648681 93), true, true) ::
  (f16, 3996676%Z, (Dyadic 984762021 99), (Dyadic 1779987115 97), (Dyadic 1237612391 103), (Dyadic 629292435 92), false, false) ::
  (bf16, 534594%Z, (Dyadic 8729054700752117 75), (Dyadic 2167880746552887 77), (Dyadic 932854633 104), (Dyadic 160033063 96), true, true) ::
  (f32, 5%Z, (Dyadic 562949768871991 79), (Dyadic 8919897584969241 75), (Dyadic 1726138095 90), (Dyadic 332991009 93), true, false) ::
  (f16, 8390503%Z, (Dyadic 6004347551537269 75), (Dyadic 1091060019094617 78), (Dyadic 557426439 101), (Dyadic 2126224261 92), false, false) ::
  (bf16, 14%Z, (Dyadic 1942544893 96), (Dyadic 1737746815 96), (Dyadic 2076941567 97), (Dyadic 1064621623 97), false, false) ::
  (f32, 10006534%Z, (Dyadic 1410516936159313 77), (Dyadic 8970221298839839 75), (Dyadic 1681379323 104), (Dyadic 35210601 95), true, true) ::
  (f16, 7%Z, (Dyadic 337896099 99), (Dyadic 728388871 99), (Dyadic 1072587231 101), (Dyadic 1244081409 90), false, false) ::
  (bf16, 12031108%Z, (Dyadic 655694641579247 78), (Dyadic 8159269159963099 75), (Dyadic 1919730997 103), (Dyadic 202134495 97), false, false) ::
  (f32, 13309400%Z, (Dyadic 1999286639 98), (Dyadic 1013718167 97), (Dyadic 500143431 104), (Dyadic 1112103883 96), true, false) ::
  (f16, 16%Z, (Dyadic 1125898765993025 78), (Dyadic 3557552328611243 76), (Dyadic 1251488147 98), (Dyadic 1804260487 95), false, false) ::
  (bf16, 13%Z, (Dyadic 464163645 99), (Dyadic 1111536151 98), (Dyadic 426327361 103), (Dyadic 166660895 95), false, true) ::
  (f32, 8844015%Z, (Dyadic 230178393 101), (Dyadic 246062521 100), (Dyadic 1567397335 95), (Dyadic 1449381837 95), true, true) ::
  (f16, 20%Z, (Dyadic 1125898631775725 78), (Dyadic 8685489679017367 75), (Dyadic 1022334313 105), (Dyadic 1226855407 93), false, false) ::
  (bf16, 8%Z, (Dyadic 1125899369971967 78), (Dyadic 2196500394658511 77), (Dyadic 1552962971 103), (Dyadic 1687237835 92), true, false) ::
  (f32, 18%Z, (Dyadic 781618281 99), (Dyadic 1356735173 97), (Dyadic 1495793781 97), (Dyadic 1175386779 96), true, false) ::
  (f16, 11771425%Z, (Dyadic 1092919951 96), (Dyadic 2005943017 96), (Dyadic 640336141 92), (Dyadic 1239414319 96), false, false) ::
  (bf16, 3522345%Z, (Dyadic 1154955583 98), (Dyadic 923473645 98), (Dyadic 1557957903 91), (Dyadic 1650189771 91), true, false) ::
  (f32, 13%Z, (Dyadic 1315396579 97), (Dyadic 1689242031 98), (Dyadic 1981209487 96), (Dyadic 1620522093 93), false, true) ::
  (f16, 15%Z, (Dyadic 313757557 99), (Dyadic 991851125 97), (Dyadic 1429629791 97), (Dyadic 1368085719 93), false, false) ::
  (bf16, 16%Z, (Dyadic 1125898900210621 78), (Dyadic 4399230635119453 76), (Dyadic 1655161727 103), (Dyadic 1592181105 92), true, true) ::
  (f32, 6%Z, (Dyadic 1125899437080745 78), (Dyadic 8512116824326597 75), (Dyadic 1939115505 91), (Dyadic 1888396629 93), false, false) ::
  (f16, 3%Z, (Dyadic 468205011 99), (Dyadic 495094011 100), (Dyadic 873530603 104), (Dyadic 1578101857 93), false, false) ::
  (bf16, 18%Z, (Dyadic 281474666332493 80), (Dyadic 8798817849912767 75), (Dyadic 687819825 97), (Dyadic 198707959 95), true, true) ::
  (f32, 12%Z, (Dyadic 1741323681 96), (Dyadic 635647611 99), (Dyadic 600392165 100), (Dyadic 1380134111 96), false, true) ::
  (f16, 4%Z, (Dyadic 72405095 100), (Dyadic 1420864887 97), (Dyadic 829592835 103), (Dyadic 1997997349 91), false, false) ::
  (bf16, 16%Z, (Dyadic 1125898900210621 78), (Dyadic 2596571998719885 76), (Dyadic 519529973 96), (Dyadic 1818501517 96), true, true) ::
  (f32, 6%Z, (Dyadic 611698785 98), (Dyadic 174508823 99), (Dyadic 944737043 99), (Dyadic 789360657 94), false, false) ::
  (f16, 12%Z, (Dyadic 281474733441199 80), (Dyadic 8911248892239121 75), (Dyadic 389169695 105), (Dyadic 1463543517 91), false, false) ::
  (bf16, 9%Z, (Dyadic 1991503499 96), (Dyadic 2036274681 98), (Dyadic 611928939 104), (Dyadic 117448211 100), false, true) ::
  (f32, 19%Z, (Dyadic 896900345 99), (Dyadic 781122331 99), (Dyadic 1118319577 94), (Dyadic 874112509 95), true, true) ::
  (f16, 15%Z, (Dyadic 562949366219279 79), (Dyadic 5591621530649865 75), (Dyadic 1167638267 98), (Dyadic 814255815 97), false, false) ::
  (bf16, 5%Z, (Dyadic 1206651305 97), (Dyadic 1553461811 97), (Dyadic 40651049 109), (Dyadic 1380628561 90), false, false) ::
  (f32, 20%Z, (Dyadic 562949299110667 79), (Dyadic 3623482638299289 76), (Dyadic 1713519301 97), (Dyadic 1678522443 95), true, true) ::
  (f16, 7%Z, (Dyadic 1276141045 97), (Dyadic 770592015 99), (Dyadic 1578701475 91), (Dyadic 1756093845 91), false, false) ::
  (bf16, 4%Z, (Dyadic 591254635 97), (Dyadic 1319252139 98), (Dyadic 2015187433 101), (Dyadic 1226355901 94), false, true) ::
  (f32, 19%Z, (Dyadic 1125898631775651 78), (Dyadic 8026777125526923 75), (Dyadic 1801270363 99), (Dyadic 934908707 95), true, true) ::
  (f16, 9%Z, (Dyadic 211588297 99), (Dyadic 601301093 98), (Dyadic 1007735521 103), (Dyadic 831526975 92), false, false) ::
  (bf16, 19%Z, (Dyadic 903517959 98), (Dyadic 91472141 101), (Dyadic 1745599913 102), (Dyadic 1058600663 96), false, false) ::
  (f32, 10109661%Z, (Dyadic 1861611573 96), (Dyadic 1115897609 96), (Dyadic 1368295193 104), (Dyadic 2112864449 93), false, false) ::
  (f16, 976970%Z, (Dyadic 8511555582589199 75), (Dyadic 8888287555337825 75), (Dyadic 952511249 91), (Dyadic 113390923 95), false, false) ::
  (bf16, 10932106%Z, (Dyadic 1918569671 98), (Dyadic 847277903 99), (Dyadic 709730921 99), (Dyadic 1593270491 92), true, true) ::
  (f32, 6352713%Z, (Dyadic 876017367 97), (Dyadic 227267431 101), (Dyadic 701507791 101), (Dyadic 1574049915 90), false, true) ::
  (f16, 4%Z, (Dyadic 4332985 106), (Dyadic 1547588763 98), (Dyadic 1689566419 91), (Dyadic 1347658993 92), false, false) ::
  (bf16, 8094723%Z, (Dyadic 1372118055 96), (Dyadic 570488359 99), (Dyadic 1144906907 97), (Dyadic 713470033 94), false, true) ::
  (f32, 19%Z, (Dyadic 562949232001843 79), (Dyadic 751182584613293 78), (Dyadic 1299704295 100), (Dyadic 89330545 100), false, false) ::
  (f16, 18%Z, (Dyadic 140737316389049 81), (Dyadic 558826099224927 79), (Dyadic 1300595301 101), (Dyadic 2013248769 90), false, false) ::
  (bf16, 7%Z, (Dyadic 627433455 99), (Dyadic 387112313 100), (Dyadic 1001645999 91), (Dyadic 1363380801 94), true, true) ::
  (f32, 3%Z, (Dyadic 1811404585 98), (Dyadic 1571620017 97), (Dyadic 1345063547 92), (Dyadic 1739816521 90), true, false) ::
  (f16, 6408044%Z, (Dyadic 1278668739 98), (Dyadic 1127944251 96), (Dyadic 1959036143 104), (Dyadic 684810575 94), false, false) ::
  (bf16, 16739868%Z, (Dyadic 844716315 97), (Dyadic 1882103505 96), (Dyadic 263742803 105), (Dyadic 244500189 97), false, false) ::
  (f32, 2%Z, (Dyadic 2144212533 96), (Dyadic 1231287483 97), (Dyadic 1420782327 101), (Dyadic 753308451 94), false, false) ::
  (f16, 12%Z, (Dyadic 562949500436805 79), (Dyadic 7132893558439451 75), (Dyadic 283827957 96), (Dyadic 223412273 98), false, false) ::
  (bf16, 13%Z, (Dyadic 1125899034428067 78), (Dyadic 7121564201615867 75), (Dyadic 1839551617 98), (Dyadic 1798100265 95), true, false) ::
  (f32, 19%Z, (Dyadic 1125898631775651 78), (Dyadic 1309362710260801 77), (Dyadic 810492283 94), (Dyadic 1797376499 96), true, true) ::
  (f16, 15%Z, (Dyadic 372301637 100), (Dyadic 1837215649 96), (Dyadic 925470521 98), (Dyadic 2125666563 90), false, false) ::
  (bf16, 11%Z, (Dyadic 296974721 98), (Dyadic 1562938471 96), (Dyadic 220936711 96), (Dyadic 776517227 96), false, false) ::
  (f32, 8101894%Z, (Dyadic 6074000535060479 75), (Dyadic 8923064004308355 75), (Dyadic 1696489077 101), (Dyadic 1283582413 91), true, true) ::
  (f16, 9%Z, (Dyadic 1719211593 98), (Dyadic 188358197 99), (Dyadic 1267662553 94), (Dyadic 1805927769 94), false, false) ::
  (bf16, 1%Z, (Dyadic 1320597575 98), (Dyadic 230443069 99), (Dyadic 1049714309 94), (Dyadic 736378997 91), true, false) ::
  (f32, 12%Z, (Dyadic 1125899101536831 78), (Dyadic 1190752046285111 77), (Dyadic 1425533831 103), (Dyadic 1011787259 97), true, false) ::
  (f16, 16%Z, (Dyadic 35184337485857 83), (Dyadic 7115442001920869 75), (Dyadic 1611213451 90), (Dyadic 450984721 97), false, false) ::
  (bf16, 2865213%Z, (Dyadic 7693331534741937 75), (Dyadic 5256378858826125 75), (Dyadic 1142203023 98), (Dyadic 1788351687 96), false, true) ::
  (f32, 9%Z, (Dyadic 562949634654379 79), (Dyadic 4232843353497265 76), (Dyadic 607338547 98), (Dyadic 2065496679 93), true, false) ::
  (f16, 9%Z, (Dyadic 562949634654379 79), (Dyadic 1116502212341199 78), (Dyadic 1759035953 103), (Dyadic 286653717 93), false, false) ::
  (bf16, 13043213%Z, (Dyadic 1439280433 96), (Dyadic 277951075 99), (Dyadic 919073671 104), (Dyadic 1324441403 90), false, false) ::
  (f32, 12%Z, (Dyadic 1937045953 97), (Dyadic 743030155 99), (Dyadic 159014885 105), (Dyadic 109721069 98), false, true) ::
  (f16, 2339093%Z, (Dyadic 7905067078264483 75), (Dyadic 17371051160825 84), (Dyadic 641906725 96), (Dyadic 1727425927 91), false, false) ::
  (bf16, 5%Z, (Dyadic 787124361 99), (Dyadic 494394995 98), (Dyadic 1615721577 101), (Dyadic 1209639563 91), true, false) ::
  (f32, 7%Z, (Dyadic 1125899437080771 78), (Dyadic 386869075695993 79), (Dyadic 847229753 97), (Dyadic 1343255675 96), true, false) ::
  (f16, 535787%Z, (Dyadic 1780526793 98), (Dyadic 565336703 98), (Dyadic 1420330237 101), (Dyadic 744614129 91), false, false) ::
  (bf16, 12906925%Z, (Dyadic 113800271 100), (Dyadic 711374127 99), (Dyadic 318687349 98), (Dyadic 1751389897 94), false, true) ::
  (f32, 13407649%Z, (Dyadic 148704079 101), (Dyadic 1656078437 98), (Dyadic 63962647 105), (Dyadic 2103393573 93), true, true) ::
  (f16, 9%Z, (Dyadic 562949701763205 79), (Dyadic 1128637846871415 77), (Dyadic 1648636731 99), (Dyadic 2142046195 96), false, false) ::
  (bf16, 14404345%Z, (Dyadic 2108030895 97), (Dyadic 940476017 99), (Dyadic 553649787 101), (Dyadic 1413124821 92), true, true) ::
  (f32, 7618192%Z, (Dyadic 1439899773 98), (Dyadic 1569525029 96), (Dyadic 500200983 102), (Dyadic 933375021 91), true, false) ::
  (f16, 10997610%Z, (Dyadic 1232364911 96), (Dyadic 1431851573 97), (Dyadic 131170157 94), (Dyadic 703469295 94), false, false) ::
  (bf16, 13%Z, (Dyadic 330643369 98), (Dyadic 682300569 97), (Dyadic 205361069 106), (Dyadic 972605415 92), false, false) ::
  (f32, 17%Z, (Dyadic 1753451691 97), (Dyadic 1026108825 98), (Dyadic 996942403 102), (Dyadic 93292359 99), false, true) ::
  (f16, 19%Z, (Dyadic 562949299110629 79), (Dyadic 4473487547173121 76), (Dyadic 207736597 95), (Dyadic 918867963 91), false, false) ::
  (bf16, 19%Z, (Dyadic 140737316389059 81), (Dyadic 8964703284017113 75), (Dyadic 1153048263 98), (Dyadic 648363419 91), false, true) ::
  (f32, 15%Z, (Dyadic 562949366219279 79), (Dyadic 8047640384231793 75), (Dyadic 551459859 95), (Dyadic 1830030231 94), false, true) ::
  nil.

Definition xent_overflow_points : list (bool * Z * dyadic * bool) :=
  (true, 8950969%Z, (Dyadic 2936773240064235 76), false) ::
  (true, 11%Z, (Dyadic 1312024507 96), false) ::
  (true, 10187817%Z, (Dyadic 5604136236216809 75), true) ::
  (true, 6%Z, (Dyadic 281474800549993 80), true) ::
  (true, 11%Z, (Dyadic 1125898765992959 78), false) ::
  (true, 8%Z, (Dyadic 1002929599 99), true) ::
  (true, 1%Z, (Dyadic 1933572201 96), false) ::
  (true, 6%Z, (Dyadic 281474800549993 80), true) ::
  (true, 0%Z, (Dyadic 281474867658779 80), false) ::
  (true, 12%Z, (Dyadic 98774037 102), true) ::
  (true, 3%Z, (Dyadic 566813597 98), false) ::
  (false, 4%Z, (Dyadic 1125899235754307 78), false) ::
  (true, 3%Z, (Dyadic 281474867658797 80), true) ::
  (true, 432453%Z, (Dyadic 4390430340036879 76), true) ::
  (false, 16%Z, (Dyadic 1809650263 97), false) ::
  (false, 19%Z, (Dyadic 870128959 98), false) ::
  (true, 7608422%Z, (Dyadic 1587514365 98), true) ::
  (true, 2%Z, (Dyadic 562949701763163 79), false) ::
  (false, 12590430%Z, (Dyadic 1346282969 96), false) ::
  (false, 19%Z, (Dyadic 1125898363340867 78), false) ::
  (true, 7%Z, (Dyadic 562949634654415 79), true) ::
  (false, 15%Z, (Dyadic 1125898564666865 78), false) ::
  (true, 16%Z, (Dyadic 2106547655 97), false) ::
  (false, 14%Z, (Dyadic 1156864507 96), false) ::
  (true, 6%Z, (Dyadic 1228839341 96), false) ::
  (true, 16%Z, (Dyadic 296062143 99), false) ::
  (false, 15%Z, (Dyadic 1717745109 98), false) ::
  (true, 10%Z, (Dyadic 1125898833101699 78), false) ::
  (true, 14%Z, (Dyadic 2136444951 96), false) ::
  (true, 4771345%Z, (Dyadic 7012797090712539 75), false) ::
  (true, 12%Z, (Dyadic 1125898765993025 78), false) ::
  (false, 7%Z, (Dyadic 1125899168645603 78), false) ::
  (true, 19%Z, (Dyadic 1300091433 96), false) ::
  (true, 4%Z, (Dyadic 2082597337 96), false) ::
  (true, 14%Z, (Dyadic 1878979131 97), false) ::
  (false, 11%Z, (Dyadic 1522822405 98), false) ::
  (true, 18%Z, (Dyadic 1125898497558325 78), true) ::
  (true, 14866807%Z, (Dyadic 4775490204284903 75), true) ::
  (true, 13%Z, (Dyadic 1881072709 98), true) ::
  (true, 1%Z, (Dyadic 1692072315 96), false) ::
  (true, 9950999%Z, (Dyadic 5653789294551557 75), false) ::
  (false, 16%Z, (Dyadic 140737316389069 81), false) ::
  (true, 5%Z, (Dyadic 1125899302863171 78), true) ::
  (false, 4%Z, (Dyadic 701125891 99), false) ::
  (true, 11%Z, (Dyadic 1125898900210563 78), true) ::
  (true, 8612512%Z, (Dyadic 960775605 97), false) ::
  (true, 15%Z, (Dyadic 980047477 98), false) ::
  (true, 12549398%Z, (Dyadic 322053213171885 79), false) ::
  (true, 14%Z, (Dyadic 1125898765993157 78), true) ::
  (true, 17%Z, (Dyadic 281474599223769 80), false) ::
  (true, 11266737%Z, (Dyadic 2694265505317741 76), true) ::
  (true, 14%Z, (Dyadic 1396861471 97), false) ::
  (false, 14%Z, (Dyadic 562949366219381 79), false) ::
  (true, 13%Z, (Dyadic 1690821451 96), false) ::
  (true, 8%Z, (Dyadic 1972171325 98), true) ::
  (true, 7%Z, (Dyadic 1909980591 96), false) ::
  (false, 16%Z, (Dyadic 970674753 97), false) ::
  (true, 51732%Z, (Dyadic 8979509624783973 75), true) ::
  (true, 0%Z, (Dyadic 562949768871981 79), false) ::
  (true, 16403942%Z, (Dyadic 2277131538712041 76), true) ::
  nil.
